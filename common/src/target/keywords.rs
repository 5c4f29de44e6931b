//! The names of libpq's connection options and of the environment variables that stand in for them.

/// A connection option.
pub(super) struct Keyword {
    /// Its name in keyword strings, URIs and service files.
    pub(super) name: &'static str,
    /// Its environment variable.
    pub(super) env: Option<&'static str>,
}

const fn with(name: &'static str, env: &'static str) -> Keyword {
    Keyword { name, env: Some(env) }
}

const fn bare(name: &'static str) -> Keyword {
    Keyword { name, env: None }
}

/// All options of libpq up to version 18.
pub(super) const KEYWORDS: &[Keyword] = &[
    with("service", "PGSERVICE"),
    with("servicefile", "PGSERVICEFILE"),
    with("user", "PGUSER"),
    with("password", "PGPASSWORD"),
    with("passfile", "PGPASSFILE"),
    with("channel_binding", "PGCHANNELBINDING"),
    with("connect_timeout", "PGCONNECT_TIMEOUT"),
    with("dbname", "PGDATABASE"),
    with("host", "PGHOST"),
    with("hostaddr", "PGHOSTADDR"),
    with("port", "PGPORT"),
    with("client_encoding", "PGCLIENTENCODING"),
    with("options", "PGOPTIONS"),
    with("application_name", "PGAPPNAME"),
    bare("fallback_application_name"),
    bare("keepalives"),
    bare("keepalives_idle"),
    bare("keepalives_interval"),
    bare("keepalives_count"),
    bare("tcp_user_timeout"),
    with("sslmode", "PGSSLMODE"),
    with("sslnegotiation", "PGSSLNEGOTIATION"),
    with("sslcompression", "PGSSLCOMPRESSION"),
    with("sslcert", "PGSSLCERT"),
    with("sslkey", "PGSSLKEY"),
    with("sslcertmode", "PGSSLCERTMODE"),
    bare("sslpassword"),
    with("sslrootcert", "PGSSLROOTCERT"),
    with("sslcrl", "PGSSLCRL"),
    with("sslcrldir", "PGSSLCRLDIR"),
    with("sslsni", "PGSSLSNI"),
    with("requirepeer", "PGREQUIREPEER"),
    with("require_auth", "PGREQUIREAUTH"),
    with("min_protocol_version", "PGMINPROTOCOLVERSION"),
    with("max_protocol_version", "PGMAXPROTOCOLVERSION"),
    with("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION"),
    with("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION"),
    with("gssencmode", "PGGSSENCMODE"),
    with("krbsrvname", "PGKRBSRVNAME"),
    with("gsslib", "PGGSSLIB"),
    with("gssdelegation", "PGGSSDELEGATION"),
    bare("replication"),
    with("target_session_attrs", "PGTARGETSESSIONATTRS"),
    with("load_balance_hosts", "PGLOADBALANCEHOSTS"),
    bare("scram_client_key"),
    bare("scram_server_key"),
    bare("sslkeylogfile"),
    bare("oauth_issuer"),
    bare("oauth_client_id"),
    bare("oauth_client_secret"),
    bare("oauth_scope"),
];

/// Environment variables that become settings of the startup message.
pub(super) const SETTINGS: [(&str, &str); 3] =
    [("PGDATESTYLE", "datestyle"), ("PGTZ", "timezone"), ("PGGEQO", "geqo")];

/// The option of this name.
pub(super) fn find(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|keyword| keyword.name == name)
}
