//! What to do about a refusal that only poolers come up with. Pure text.

/// The advice for whoever was refused because of a parameter of the startup message, given the server's
/// message.
#[must_use]
pub fn refused_parameter(message: &str) -> Option<String> {
    let named = message.strip_prefix("unsupported startup parameter")?;
    let (inside, name) = match named.strip_prefix(" in options: ") {
        Some(name) => (true, name),
        None => (false, named.strip_prefix(": ")?),
    };
    // A name only, since it goes into advice that somebody may paste.
    let name: String =
        name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let source = match name.as_str() {
        "" => return None,
        _ if inside => "options (PGOPTIONS)".to_owned(),
        "options" => "options (PGOPTIONS)".to_owned(),
        "geqo" => "PGGEQO".to_owned(),
        "timezone" | "TimeZone" => "PGTZ".to_owned(),
        "datestyle" | "DateStyle" => "PGDATESTYLE".to_owned(),
        _ => name.clone(),
    };
    Some(format!(
        "The pooler refuses it: do without {source}, or add {name} to ignore_startup_parameters in the \
         pooler's configuration (it has no effect then)."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_names_the_settings_of_both_sides() {
        let cases = [
            ("unsupported startup parameter: options", "options (PGOPTIONS)", "add options to"),
            ("unsupported startup parameter: geqo", "without PGGEQO,", "add geqo to"),
            (
                "unsupported startup parameter in options: work_mem",
                "(PGOPTIONS)",
                "add work_mem to",
            ),
            ("unsupported startup parameter: x_y\u{1b}[2J", "without x_y,", "add x_y to"),
        ];
        for (message, own, theirs) in cases {
            let advice = refused_parameter(message).unwrap_or_default();
            assert!(advice.contains(own) && advice.contains(theirs), "{message}: {advice}");
        }
        for message in ["", "unsupported startup parameter: ", "no more connections allowed"] {
            assert_eq!(refused_parameter(message), None, "{message}");
        }
    }
}
