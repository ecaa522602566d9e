/** Images in place of those that compose.yaml would pull: built on one Debian, used as those are used. */
export interface StandIn {
  /** Of the variable that names it for compose.yaml. */
  readonly variable: string;
  readonly image: string;
  readonly containerfile: string;
}

/** Reads `POSTGRES_…` and `PGDATA` as the official image does. */
const postgres = `#!/bin/sh
set -e
PATH=/usr/lib/postgresql/15/bin:$PATH
data=$PGDATA
if [ ! -e $data/PG_VERSION ]; then
  chown postgres $data
  cp "$POSTGRES_PASSWORD_FILE" /tmp/password
  chown postgres /tmp/password
  su postgres -c "$(command -v initdb) -D $data -U $POSTGRES_USER -A scram-sha-256 --pwfile /tmp/password" > /dev/null
  echo "host all all all scram-sha-256" >> $data/pg_hba.conf
  su postgres -c "$(command -v pg_ctl) -D $data -o '-c listen_addresses= -c unix_socket_directories=/tmp' -w start" > /dev/null
  PGPASSWORD=$(cat /tmp/password) psql -h /tmp -U $POSTGRES_USER -d postgres -c "CREATE DATABASE $POSTGRES_DB"
  su postgres -c "$(command -v pg_ctl) -D $data -w stop" > /dev/null
fi
exec setpriv --reuid postgres --regid postgres --clear-groups postgres -D $data -c listen_addresses='*' -c unix_socket_directories=/tmp
`;

const written = (path: string, script: string) =>
  `RUN printf %s ${Buffer.from(script).toString('base64')} | base64 -d > ${path} && chmod 755 ${path}\n`;

/** @param checkout  of ours, mounted at the same place, from which ClickHouse's interface over the embedded engine runs */
export function standIns(node: string, checkout: string): readonly StandIn[] {
  const clickHouse = `#!/bin/sh\nexec ${node} --disable-warning=ExperimentalWarning ${checkout}/services/data-service/test/clickhouse-users-main.ts\n`;
  // Asked by the probe of compose.yaml with the probe's user.
  const client = `#!/bin/sh\n[ "$1" = --user ] && curl -fsS -u "$2:" --data "$4" http://127.0.0.1:8123/\n`;
  const all = { POSTGRES: '', CLICKHOUSE: '', NATS: '', REDIS: '' };
  all.POSTGRES = `${written('/postgres', postgres)}ENV PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin\nVOLUME /var/lib/postgresql/data\nENTRYPOINT ["/postgres"]\n`;
  all.CLICKHOUSE = `${written('/clickhouse', clickHouse)}${written('/usr/bin/clickhouse-client', client)}ENTRYPOINT ["/clickhouse"]\n`;
  all.NATS = 'RUN ln -s /bin/busybox /usr/bin/wget\nENTRYPOINT ["nats-server"]\n';
  all.REDIS = 'CMD ["redis-server"]\n';
  return Object.entries(all).map(([name, lines]) => ({
    variable: `${name}_IMAGE`,
    image: `stand-in/${name.toLowerCase()}:1`,
    containerfile: `FROM stand-in/debian:1\n${lines}`,
  }));
}
