//! How far the agent may go.

use crate::error::{Failure, Result, did_you_mean};
use serde::{Deserialize, Deserializer, Serialize, de};

/// How far the agent may go. Ordered: a smaller permission allows less.
///
/// - Text forms also take the names that people bring from other tools: `plan` (read-only),
///   `acceptEdits` and `auto_edit` (edit), `bypassPermissions` and `yolo` (full). `default`, which
///   would ask a person, becomes `edit`; [`Permission::from_name`] says so in a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// Read the workspace; change nothing, run nothing.
    ReadOnly,
    /// Also change files of the workspace.
    Edit,
    /// Anything that the CLI can do without a person.
    Full,
}

impl Permission {
    /// The names that text forms take, in the order of authority.
    pub const NAMES: &'static [&'static str] = &["read-only", "edit", "full"];

    /// The permission of this name, and a notice where the name means something else here.
    pub fn from_name(name: &str) -> Result<(Permission, Option<&'static str>)> {
        const DEFAULT: &str =
            "permission `default` asks a person, and there is none in a headless run: taken as `edit`";
        Ok(match name {
            "read-only" | "read_only" | "readonly" | "plan" => (Permission::ReadOnly, None),
            "edit" | "acceptEdits" | "accept-edits" | "auto_edit" | "auto-edit" => (Permission::Edit, None),
            "full" | "bypassPermissions" | "bypass-permissions" | "yolo" => (Permission::Full, None),
            "default" => (Permission::Edit, Some(DEFAULT)),
            other => {
                let near = did_you_mean(other, Permission::NAMES.iter().copied());
                return Err(Failure::invalid(
                    "permission",
                    format!("`{other}` is none of read-only, edit, full{near}"),
                ));
            }
        })
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        Permission::NAMES[self as usize]
    }
}

impl std::str::FromStr for Permission {
    type Err = Failure;
    fn from_str(name: &str) -> Result<Self> {
        Permission::from_name(name).map(|(permission, _)| permission)
    }
}

impl<'de> Deserialize<'de> for Permission {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        name.parse().map_err(|e: Failure| de::Error::custom(e.message))
    }
}
