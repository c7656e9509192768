# Installs missing Debian packages. Sourced by ./check and ./quickstart; works on Debian 12 and 13, as root or with sudo.

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo -- "$@"
  else die "'$*' needs root: run as root or install sudo"
  fi
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
available() { [ -n "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ]; }

apt_update() {
  [ -z "${packages_updated:-}" ] || return 0
  packages_updated=1
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update
}

# The first of the alternatives that is installed, else the first that apt knows.
choose_package() {
  local name
  for name in "$@"; do if installed "$name"; then echo "$name"; return; fi; done
  for name in "$@"; do if available "$name"; then echo "$name"; return; fi; done
  echo "$1"
}

# missing_packages LIST...: one line a package of the lists that is not installed, alternatives separated by blanks
missing_packages() {
  local list line name
  for list in "$@"; do
    while IFS= read -r line; do
      line=${line%%#*}; line=${line//|/ }
      [ -n "${line// /}" ] || continue
      for name in $line; do if installed "$name"; then continue 2; fi; done
      echo "$line"
    done < "$packages_dir/$list.txt"
  done
}

# install_packages LIST...: lists are files beside this one
install_packages() {
  command -v dpkg-query >/dev/null || die "this needs Debian: dpkg-query is not here"
  local missing=() line
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Installing ${#missing[@]} Debian packages"
  apt_update
  local chosen=()
  # shellcheck disable=SC2086 # a line is a list of alternatives
  for line in "${missing[@]}"; do chosen+=("$(choose_package $line)"); done
  printf '%s ' "${chosen[@]}"; echo
  apt_install "${chosen[@]}"
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends install "$@" |
    sed -u -n -e '/^Need to get/p' -e '/^Setting up/p' -e '/^E:/p'
  [ "${PIPESTATUS[0]}" = 0 ] || die "apt-get could not install: $*"
}

# Node.js with node-postgres, for the client comparison. Debian's own where it can be installed; beside a Node.js from
# elsewhere the package cannot be, and npm brings the module into the folder given.
install_node_postgres() {
  local folder=$1
  if NODE_PATH=$(node_path "$folder") node -e 'require("pg")' 2>/dev/null; then return 0; fi
  if command -v node >/dev/null && ! installed node-pg && command -v npm >/dev/null &&
      ! apt-get -s -qq install node-pg >/dev/null 2>&1; then
    say "Installing node-postgres with npm"
    mkdir -p "$folder"
    npm install --silent --no-audit --no-fund --no-save --no-package-lock --prefix "$folder" pg@8
  else
    say "Installing Node.js and node-postgres"
    apt_update
    apt_install nodejs node-pg
  fi
  NODE_PATH=$(node_path "$folder") node -e 'require("pg")' || die "node-postgres does not load"
}
node_path() { echo "$1/node_modules:/usr/share/nodejs"; }

packages_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
