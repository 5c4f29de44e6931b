//! From arguments and surroundings to a target, with libpq's precedences.
//!
//! A connection string beats the options given beside it, those beat the service, that beats the
//! environment, that beats what is built in.

use std::time::Duration;

use super::error::TargetError;
use super::options::Options;
use super::passfile::PassFile;
use super::surroundings::Surroundings;
use super::{
    Address, ChannelBinding, Host, Roots, Secret, SessionAttrs, SslMode, Target, TcpOptions, Tls,
    TlsVersion, files, hosts, keywords, service,
};

/// What the command line says about the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `-h`.
    pub host: Option<String>,
    /// `-p`.
    pub port: Option<String>,
    /// `-U`.
    pub user: Option<String>,
    /// `-d` or the positional argument: a database name, a keyword string or a URI.
    pub database: Option<Secret>,
    /// A password that the user was asked for.
    pub password: Option<Secret>,
    /// `application_name` unless something else sets it.
    pub fallback_application_name: String,
}

/// A target, and what the user should know about how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The target.
    pub target: Target,
    /// Files that were passed over, for example.
    pub warnings: Vec<String>,
}

/// Resolves a target completely.
pub fn resolve(
    request: &Request,
    surroundings: &dyn Surroundings,
) -> Result<Resolved, TargetError> {
    let options = gather(request, surroundings)?;
    let mut warnings = Vec::new();
    if shows_password(request)? {
        warnings.push(
            "the password in the connection string stands in the process list of this host; \
             PGPASSWORD or a password file keep it private"
                .to_owned(),
        );
    }
    let user = match options.filled("user") {
        Some(user) => user.to_owned(),
        None => surroundings.os_user().map_err(TargetError::User)?,
    };
    let database = options.filled("dbname").unwrap_or(&user).to_owned();
    let mut hosts = hosts::hosts(&options, surroundings)?;
    let password = options.filled("password").map(Secret::new);
    if password.is_none() {
        let file = PassFile::open(options.filled("passfile"), surroundings, &mut warnings);
        hosts::find_passwords(&mut hosts, &file, (&user, &database), surroundings);
    }
    let application_name =
        options.filled("application_name").or(options.filled("fallback_application_name"));
    refuse_what_is_not_there(&options)?;
    let target = Target {
        tls: tls(&options, &hosts, surroundings)?,
        options: options.filled("options").map(str::to_owned),
        application_name: application_name.unwrap_or_default().to_owned(),
        connect_timeout: connect_timeout(&options)?,
        tcp: tcp(&options)?,
        session_attrs: session_attrs(&options)?,
        load_balance: options.choice(
            "load_balance_hosts",
            &[("disable", false), ("random", true)],
            false,
        )?,
        settings: settings(&options, surroundings),
        require_auth: require_auth(&options)?,
        require_peer: options.filled("requirepeer").map(str::to_owned),
        hosts,
        user,
        database,
        password,
    };
    Ok(Resolved { target, warnings })
}

/// Whether the command line, which every user of the host can read, holds a password.
fn shows_password(request: &Request) -> Result<bool, TargetError> {
    let Some(database) = &request.database else { return Ok(false) };
    let string = Options::parse(database.expose())?;
    Ok(string.is_some_and(|string| {
        string.filled("password").is_some() || string.filled("sslpassword").is_some()
    }))
}

/// All options from all sources.
fn gather(request: &Request, surroundings: &dyn Surroundings) -> Result<Options, TargetError> {
    let mut options = Options::default();
    let given = [("host", &request.host), ("port", &request.port), ("user", &request.user)];
    for (name, value) in given {
        if let Some(value) = value.as_ref().filter(|value| !value.is_empty()) {
            options.set(name, value.clone())?;
        }
    }
    if let Some(password) = &request.password {
        options.set("password", password.expose().to_owned())?;
    }
    let database = database(request, surroundings)?;
    match Options::parse(&database)? {
        Some(string) => options.override_with(string),
        None => options.set("dbname", database)?,
    }
    if !request.fallback_application_name.is_empty() {
        options.set("fallback_application_name", request.fallback_application_name.clone())?;
    }
    service::apply(&mut options, surroundings)?;
    for keyword in keywords::KEYWORDS {
        if let Some(value) = keyword.env.and_then(|name| surroundings.env(name)) {
            options.set_default(keyword.name, value)?;
        }
    }
    if surroundings.env("PGREQUIRESSL").is_some_and(|value| value.starts_with('1')) {
        options.set_default("sslmode", "require".to_owned())?;
    }
    Ok(options)
}

/// pgbench's database: the argument, `PGDATABASE`, `PGUSER`, the user of the operating system. `-U` does
/// not count.
fn database(request: &Request, surroundings: &dyn Surroundings) -> Result<String, TargetError> {
    let given = request.database.as_ref().map(|database| database.expose().to_owned());
    let env = |name| move || surroundings.env(name).filter(|value| !value.is_empty());
    match given.or_else(env("PGDATABASE")).or_else(env("PGUSER")) {
        Some(database) => Ok(database),
        None => surroundings.os_user().map_err(TargetError::User),
    }
}

fn tls(
    options: &Options,
    hosts: &[Host],
    surroundings: &dyn Surroundings,
) -> Result<Tls, TargetError> {
    let system = options.get("sslrootcert") == Some("system");
    let default = if system { SslMode::VerifyFull } else { SslMode::Prefer };
    let mode = options.choice("sslmode", &SSL_MODES, default)?;
    let weak = |name: &str, least: &str| {
        let given = options.get("sslmode").unwrap_or("prefer");
        let text =
            format!("weak sslmode \"{given}\" may not be used with {name} (use \"{least}\")");
        Err(TargetError::Conflict(text))
    };
    if system && mode != SslMode::VerifyFull {
        return weak("sslrootcert=system", "verify-full");
    }
    let direct =
        options.choice("sslnegotiation", &[("postgres", false), ("direct", true)], false)?;
    if direct && matches!(mode, SslMode::Disable | SslMode::Allow | SslMode::Prefer) {
        return weak("sslnegotiation=direct", "require");
    }
    let bindings = [
        ("disable", ChannelBinding::Disable),
        ("prefer", ChannelBinding::Prefer),
        ("require", ChannelBinding::Require),
    ];
    let mut tls = Tls {
        mode,
        direct,
        channel_binding: options.choice("channel_binding", &bindings, ChannelBinding::Prefer)?,
        sni: options.choice("sslsni", &[("0", false), ("1", true), ("", true)], true)?,
        min_version: tls_version(options, "ssl_min_protocol_version")?,
        max_version: tls_version(options, "ssl_max_protocol_version")?,
        ..Tls::default()
    };
    if let (Some(min), Some(max)) = (tls.min_version, tls.max_version)
        && min > max
    {
        return Err(TargetError::Conflict("invalid SSL protocol version range".to_owned()));
    }
    if hosts.iter().all(|host| matches!(host.address, Address::Unix(_))) {
        // Nothing of it applies to unix sockets, so no file has to be there.
        tls.mode = SslMode::Disable;
    }
    if tls.mode != SslMode::Disable {
        tls.roots = files::roots(options, mode, surroundings)?;
        tls.client = files::client(options, surroundings)?;
        if tls.roots != Roots::None {
            tls.revoked_pem = files::revoked(options, surroundings)?;
        }
    }
    Ok(tls)
}

/// The words of `sslmode`.
const SSL_MODES: [(&str, SslMode); 6] = [
    ("disable", SslMode::Disable),
    ("allow", SslMode::Allow),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-ca", SslMode::VerifyCa),
    ("verify-full", SslMode::VerifyFull),
];

/// A bound on the version; those below 1.2 bound nothing from below and leave nothing from above.
fn tls_version(options: &Options, option: &'static str) -> Result<Option<TlsVersion>, TargetError> {
    match options.filled(option) {
        None => Ok(None),
        Some("TLSv1.2") => Ok(Some(TlsVersion::Tls12)),
        Some("TLSv1.3") => Ok(Some(TlsVersion::Tls13)),
        Some("TLSv1" | "TLSv1.1") if option == "ssl_min_protocol_version" => Ok(None),
        Some(old @ ("TLSv1" | "TLSv1.1")) => Err(TargetError::Unsupported {
            option,
            value: old.to_owned(),
            advice: "versions below TLSv1.2 are broken",
        }),
        Some(other) => Err(TargetError::value(option, other)),
    }
}

fn session_attrs(options: &Options) -> Result<SessionAttrs, TargetError> {
    let words = [
        ("any", SessionAttrs::Any),
        ("read-write", SessionAttrs::ReadWrite),
        ("read-only", SessionAttrs::ReadOnly),
        ("primary", SessionAttrs::Primary),
        ("standby", SessionAttrs::Standby),
        ("prefer-standby", SessionAttrs::PreferStandby),
    ];
    options.choice("target_session_attrs", &words, SessionAttrs::Any)
}

/// libpq waits at least 2 seconds where it is to wait at all.
fn connect_timeout(options: &Options) -> Result<Option<Duration>, TargetError> {
    let seconds =
        options.integer("connect_timeout")?.and_then(|seconds| u64::try_from(seconds).ok());
    Ok(seconds.filter(|&seconds| seconds > 0).map(|seconds| Duration::from_secs(seconds.max(2))))
}

fn tcp(options: &Options) -> Result<TcpOptions, TargetError> {
    let positive = |option| -> Result<Option<u32>, TargetError> {
        let value = options.integer(option)?.and_then(|value| u32::try_from(value).ok());
        Ok(value.filter(|&value| value > 0))
    };
    let seconds = |value: u32| Duration::from_secs(value.into());
    let milliseconds = |value: u32| Duration::from_millis(value.into());
    Ok(TcpOptions {
        user_timeout: positive("tcp_user_timeout")?.map(milliseconds),
        keepalives: options.integer("keepalives")? != Some(0),
        keepalives_idle: positive("keepalives_idle")?.map(seconds),
        keepalives_interval: positive("keepalives_interval")?.map(seconds),
        keepalives_count: positive("keepalives_count")?,
    })
}

fn settings(options: &Options, surroundings: &dyn Surroundings) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    if let Some(encoding) = options.filled("client_encoding") {
        // `auto` means the locale's encoding; scripts are UTF-8 here.
        let encoding = if encoding == "auto" { "UTF8" } else { encoding };
        settings.push(("client_encoding".to_owned(), encoding.to_owned()));
    }
    if let Some(replication) = options.filled("replication") {
        settings.push(("replication".to_owned(), replication.to_owned()));
    }
    for (env, name) in keywords::SETTINGS {
        let value = surroundings.env(env).filter(|value| !value.eq_ignore_ascii_case("default"));
        settings.extend(value.map(|value| (name.to_owned(), value)));
    }
    settings
}

fn require_auth(options: &Options) -> Result<Vec<String>, TargetError> {
    const METHODS: [&str; 7] = ["password", "md5", "gss", "sspi", "scram-sha-256", "oauth", "none"];
    let option = "require_auth";
    let Some(list) = options.filled(option) else {
        return Ok(Vec::new());
    };
    let words: Vec<String> = list.split(',').map(|word| word.trim().to_owned()).collect();
    let negated = words.iter().filter(|word| word.starts_with('!')).count();
    let known = |word: &String| METHODS.contains(&word.trim_start_matches('!'));
    if !words.iter().all(known) || (negated > 0 && negated < words.len()) {
        return Err(TargetError::value(option, list));
    }
    Ok(words)
}

/// Refuses what libpq could do and pgsurge cannot, rather than ignoring it.
fn refuse_what_is_not_there(options: &Options) -> Result<(), TargetError> {
    let refuse = |option, value: &str, advice| {
        Err(TargetError::Unsupported { option, value: value.to_owned(), advice })
    };
    match options.filled("gssencmode") {
        None | Some("disable" | "prefer") => {}
        Some(mode @ "require") => return refuse("gssencmode", mode, "use TLS"),
        Some(other) => return Err(TargetError::value("gssencmode", other)),
    }
    if options.filled("scram_client_key").or(options.filled("scram_server_key")).is_some() {
        return refuse("scram_client_key", "***", "give a password");
    }
    match options.filled("min_protocol_version") {
        None | Some("3.0") => Ok(()),
        Some(version) => refuse("min_protocol_version", version, "pgsurge speaks protocol 3.0"),
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
