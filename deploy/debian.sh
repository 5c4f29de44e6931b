# shellcheck shell=bash
# What deploy/demo and tests/run share about Debian: packages, and where PostgreSQL's programs are.
# To be sourced; defines functions only.

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

die() {
  say "error: $*"
  exit 1
}

# Prints those of the named packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

# Installs what is missing of the named packages; without root it says what to install instead.
need_packages() {
  command -v dpkg-query >/dev/null || die "this is no Debian; install the like of: $*"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    die "missing packages; as root: apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  # Debian's server package would make and start a server of its own on port 5432.
  local policy=/etc/postgresql-common/createcluster.d/pgsurge.conf made=0
  if [ ! -e "$policy" ]; then
    mkdir -p "$(dirname "$policy")"
    echo 'create_main_cluster = false' >"$policy"
    made=1
  fi
  local log status=0
  log=$(mktemp)
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 || status=$?
  [ $made = 0 ] || rm -f "$policy"
  if [ $status != 0 ]; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get could not install ${missing[*]}"
  fi
  rm -f "$log"
}

# Prints the directory with Debian's newest PostgreSQL server programs; fails if there is none.
postgres_bin() {
  local newest
  newest=$(find /usr/lib/postgresql -mindepth 3 -maxdepth 3 -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1)
  [ -n "$newest" ] && dirname "$newest"
}
