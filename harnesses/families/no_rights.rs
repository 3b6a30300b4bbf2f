//! CLIs that run every tool unasked and have nothing to hold them by.

use crate::error::Result;
use crate::harness::Draft;
use crate::lowering::{Carried, Field};

/// Refuses a request that restricts, with the reason; `allow_unenforced` lets it through and says so. Full
/// autonomy is what such a CLI has anyway.
pub(crate) fn refuse(draft: &mut Draft<'_>, why: &'static str) -> Result<()> {
    let request = draft.request;
    let fields = [Field::Tools, Field::Permission].into_iter().filter(|field| field.is_set(request));
    let free = match request.restricts() {
        false => true,
        true => {
            // Names that it does not have are named before.
            let rights = draft.rights()?;
            rights.everything() && rights.none().next().is_none()
        }
    };
    for field in fields {
        if free {
            draft.row(field, Carried::Runner, why);
        } else {
            draft.unenforced(field, why)?;
        }
    }
    Ok(())
}
