#!/bin/sh
# Makes the secrets of compose.yaml, once: `sh compose-secrets.sh [DIR]`, default ./secrets
# beside this file. What is there is left as it is. Keep a copy of master_key and key_pepper
# elsewhere: without them nothing that is stored can be read, and no key is known.
set -eu
command -v openssl >/dev/null || { echo "openssl is needed" >&2; exit 1; }
dir=${1:-$(dirname "$0")/secrets}
umask 077
mkdir -p "$dir"
# It may have been there, open to others.
chmod go-rwx "$dir"

# The folder is closed to others; its files are read by the containers' own users.
write() {
  # Read to the end, or who writes complains.
  # Compose may have made a folder in the place of a file that it missed.
  if [ -d "$dir/$1" ]; then echo "$dir/$1 is a folder: take it away" >&2; exit 1; fi
  if [ -e "$dir/$1" ]; then cat > /dev/null; return 0; fi
  rm -f "$dir/.$1.new"
  cat > "$dir/.$1.new"
  # Nobody sees how the one before a pipe ends.
  if [ ! -s "$dir/.$1.new" ]; then rm -f "$dir/.$1.new"; echo "$dir/$1 could not be made" >&2; exit 1; fi
  chmod 444 "$dir/.$1.new"
  mv "$dir/.$1.new" "$dir/$1"
}
random() { openssl rand -hex 32; }

for name in service_client_auth master_key key_pepper snapshot_key postgres_password clickhouse_password nats_token redis_password; do
  random | write "$name"
done
value() { cat "$dir/$1"; }

printf 'postgres://sluice:%s@postgres:5432/sluice\n' "$(value postgres_password)" | write database_url
printf 'http://sluice:%s@clickhouse:8123/sluice\n' "$(value clickhouse_password)" | write clickhouse_url
printf 'nats://%s@nats:4222\n' "$(value nats_token)" | write nats_url
printf 'redis://:%s@redis:6379\n' "$(value redis_password)" | write redis_url

hash=$(printf %s "$(value clickhouse_password)" | openssl dgst -sha256 -r | cut -d' ' -f1)
write clickhouse_users <<EOF
<clickhouse>
  <users>
    <sluice>
      <password_sha256_hex>$hash</password_sha256_hex>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </sluice>
    <probe>
      <no_password/>
      <networks><ip>127.0.0.1</ip><ip>::1</ip></networks>
      <profile>readonly</profile>
      <quota>default</quota>
    </probe>
  </users>
</clickhouse>
EOF
write nats_conf <<EOF
listen: 0.0.0.0:4222
http: 127.0.0.1:8222
authorization { token: "$(value nats_token)" }
jetstream { store_dir: /data }
EOF
write redis_conf <<EOF
bind 0.0.0.0
requirepass $(value redis_password)
appendonly yes
maxmemory-policy noeviction
dir /data
EOF
echo "The secrets are in $dir."
