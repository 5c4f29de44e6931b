//! `-D NAME=VALUE`.

use thiserror::Error;

use super::variables::is_valid_name;

/// Why a definition is refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DefineError {
    /// No equals sign, or nothing on one of its sides.
    #[error("invalid variable definition: \"{0}\"")]
    Form(String),
    /// The name is no variable's.
    #[error("option: invalid variable name: \"{0}\"")]
    Name(String),
}

/// Splits a definition into name and value; the value may contain further equals signs.
pub fn parse_define(definition: &str) -> Result<(String, String), DefineError> {
    match definition.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            if is_valid_name(name.as_bytes()) {
                Ok((name.to_owned(), value.to_owned()))
            } else {
                Err(DefineError::Name(name.to_owned()))
            }
        }
        _ => Err(DefineError::Form(definition.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_a_name_and_a_value() {
        assert_eq!(parse_define("x=a=b"), Ok(("x".to_owned(), "a=b".to_owned())));
        for wrong in ["foobla", "x=", "=3", ""] {
            let message = format!("invalid variable definition: \"{wrong}\"");
            assert_eq!(parse_define(wrong).expect_err(wrong).to_string(), message);
        }
        let message = "option: invalid variable name: \"1x\"";
        assert_eq!(parse_define("1x=3").expect_err("no name").to_string(), message);
    }
}
