// Opens a batch's page in Chromium, filters and sorts it, in light and dark. Usage: page.mjs PAGE NODE_FOLDER [SHOTS]
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const [page_file, folder, shots] = process.argv.slice(2);
const { chromium } = createRequire(folder + "/x.js")("playwright-core");
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  const asked = [], faults = [];
  page.on("request", request => asked.push(request.url()));
  page.on("pageerror", error => faults.push(String(error)));
  page.on("dialog", dialog => { faults.push("a dialog"); dialog.dismiss(); });
  await page.goto(pathToFileURL(page_file).href);
  const ids = () => page.$$eval("#tasks tbody tr", rows => rows.filter(row => !row.hidden).map(row => row.cells[1].textContent));
  const all = Array.from({ length: 12 }, (_, n) => `t${n}`);
  assert.deepEqual(await ids(), all);
  assert.equal(await page.textContent("#count"), "12 tasks");
  // By number and back, and by id: t2 before t10.
  await page.click("#tasks th:nth-child(1) button");
  assert.deepEqual(await ids(), [...all].reverse());
  await page.click("#tasks th:nth-child(2) button");
  assert.deepEqual(await ids(), all);
  assert.equal(await page.getAttribute("#tasks th:nth-child(2)", "aria-sort"), "ascending");
  // What nobody told is last, both ways.
  await page.click("#tasks th:nth-child(7) button");
  assert.equal((await ids()).at(-1), "t2");
  await page.click("#tasks th:nth-child(7) button");
  assert.equal((await ids()).at(-1), "t2");
  await page.selectOption("#state", "harness_error");
  assert.deepEqual(await ids(), ["t2"]);
  assert.equal(await page.textContent("#count"), "1 of 12 tasks");
  await page.selectOption("#state", "");
  await page.fill("#find", "DID task-11");
  assert.deepEqual(await ids(), ["t11"]);
  await page.fill("#find", "no such words");
  assert.deepEqual(await ids(), []);
  await page.fill("#find", "");
  await page.selectOption("#harness", "gemini");
  assert.equal((await ids()).length, 12);
  // Readable in both: text and paper differ enough (WCAG AA).
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const part of ["body", ".ok", ".no", ".card span"]) {
      const contrast = await page.$eval(part, element => {
        const light = text => { const c = text.match(/[\d.]+/g).slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
        let paper = element; while (getComputedStyle(paper).backgroundColor === "rgba(0, 0, 0, 0)") paper = paper.parentElement;
        const [a, b] = [light(getComputedStyle(element).color), light(getComputedStyle(paper).backgroundColor)].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
      });
      assert.ok(contrast >= 4.5, `${scheme} ${part}: ${contrast}`);
    }
    if (shots) await page.screenshot({ path: `${shots}/${scheme}.png` });
  }
  await page.setViewportSize({ width: 380, height: 800 });
  const wider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
  assert.ok(!wider, "a narrow window scrolls the table alone");
  if (shots) await page.screenshot({ path: `${shots}/narrow.png` });
  assert.deepEqual(faults, []);
  assert.deepEqual(asked, [pathToFileURL(page_file).href]);
  assert.notEqual(await page.title(), "pwned");
  console.log("the page is right");
} finally {
  await browser.close();
}
