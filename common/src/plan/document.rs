//! The plan as a file of the results folder (`plan.json`): for people, and to read back.
//!
//! Secrets stand in it as `***` (I6), so a plan that is read back connects only where none are needed.

use serde::{Deserialize, Serialize};

use super::Plan;
use super::digest::{plan_digest, workload_digest};
use super::split::Share;

/// The contents of `plan.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanDocument {
    /// Always [`PlanDocument::SCHEMA`].
    pub schema: String,
    /// Of everything that fixes the run.
    pub plan_digest: String,
    /// Of what is run.
    pub workload_digest: String,
    /// The plan.
    pub plan: Plan,
    /// What each agent did of it, in the order of admission.
    pub shares: Vec<Share>,
}

/// Why a text is not a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// Not JSON, or not of the form.
    #[error("plan.json does not read: {0}")]
    Form(#[from] serde_json::Error),
    /// Another kind or version.
    #[error("plan.json is of schema {0}, not {schema}", schema = PlanDocument::SCHEMA)]
    Schema(String),
}

impl PlanDocument {
    /// Kind and version of the file.
    pub const SCHEMA: &str = "pgsurge.plan/1";

    /// The document of a plan and its split.
    #[must_use]
    pub fn new(plan: &Plan, shares: &[Share]) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            plan_digest: plan_digest(plan, shares),
            workload_digest: workload_digest(plan),
            plan: plan.clone(),
            shares: shares.to_vec(),
        }
    }

    /// The text of the file, with line breaks.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("plain structs with string keys serialize");
        text.push('\n');
        text
    }

    /// Reads the text of such a file.
    pub fn from_json(text: &str) -> Result<Self, PlanFileError> {
        let document: Self = serde_json::from_str(text)?;
        if document.schema != Self::SCHEMA {
            return Err(PlanFileError::Schema(document.schema));
        }
        Ok(document)
    }
}

/// A script's text: a string where it is UTF-8, as most are, else its bytes as numbers.
pub(super) mod script_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Text<'a> {
        Readable(std::borrow::Cow<'a, str>),
        Bytes(std::borrow::Cow<'a, [u8]>),
    }

    pub fn serialize<S: Serializer>(text: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(text) {
            Ok(readable) => Text::Readable(readable.into()),
            Err(_) => Text::Bytes(text.into()),
        }
        .serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Ok(match Text::deserialize(deserializer)? {
            Text::Readable(readable) => readable.into_owned().into_bytes(),
            Text::Bytes(bytes) => bytes.into_owned(),
        })
    }
}
