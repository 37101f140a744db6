# Sourced: install_packages <package...> installs packages of the system, as root or with sudo.
install_packages() {
    [ "$#" -gt 0 ] || return 0
    echo "installing $*"
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}
