import { graceMs, misspelt } from '@sluice/env';
import { expect, it } from 'vitest';
import { settingsOfServices, settingsPage } from './settings-page.ts';

it('docs/settings.md names every setting of every service, and says what it is', () => {
  const page = settingsPage();
  for (const { described } of Object.values(settingsOfServices)) {
    expect(described.length).toBeGreaterThan(10);
    for (const { name, about } of described) {
      expect(page).toContain(`| \`${name}\` |`);
      expect(page).toContain(`| ${about.replaceAll('|', '\\|')} |`);
    }
  }
});

it('a secret has no default, and an optional one is never shown', () => {
  for (const { described } of Object.values(settingsOfServices))
    for (const setting of described) if (setting.secret) expect(setting.fallback).toBeUndefined();
});

it('settings of two services under one name are of one kind', () => {
  const all = Object.values(settingsOfServices).flatMap(({ described }) => described);
  for (const { name, kind, secret } of all)
    for (const other of all.filter((setting) => setting.name === name))
      expect({ name, kind: other.kind, secret: other.secret }).toEqual({ name, kind, secret });
});

it('by default each service has ended 30 s after SIGTERM, when orchestrators kill', () => {
  for (const [name, { described }] of Object.entries(settingsOfServices)) {
    const fallback = (setting: string) =>
      Number(described.find((each) => each.name === setting)?.fallback);
    const env = {
      SHUTDOWN_DELAY: fallback('SHUTDOWN_DELAY'),
      DRAIN_TIMEOUT: fallback('DRAIN_TIMEOUT'),
    };
    expect(graceMs(env), name).toBeLessThan(30_000);
  }
});

/** Of shells, containers, Kubernetes, systemd, clouds and what runs beside. */
const usual =
  `HOSTNAME HOME PATH SHLVL LOGNAME USERNAME EDITOR VISUAL PAGER DISPLAY LS_COLORS LESSOPEN LESSCLOSE SSH_CLIENT SSH_CONNECTION SSH_TTY
  SSH_AUTH_SOCK XDG_SESSION_ID XDG_RUNTIME_DIR XDG_DATA_DIRS DBUS_SESSION_BUS_ADDRESS COLORTERM TERM_PROGRAM HISTSIZE HISTFILE HISTCONTROL MANPATH
  OLDPWD LANGUAGE LC_ALL LC_CTYPE TMPDIR MAILCHECK KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT
  KUBERNETES_PORT_443_TCP KUBERNETES_PORT_443_TCP_PROTO KUBERNETES_PORT_443_TCP_PORT KUBERNETES_PORT_443_TCP_ADDR GATEWAY_PORT GATEWAY_SERVICE_HOST
  GATEWAY_SERVICE_PORT GATEWAY_SERVICE_PORT_HTTP CONTROL_PLANE_PORT CONTROL_PLANE_SERVICE_HOST METRICS_SERVICE_PORT REDIS_PORT REDIS_HOST NATS_PORT
  POSTGRES_PORT POSTGRES_USER POSTGRES_PASSWORD CLICKHOUSE_PORT CLICKHOUSE_HOST POD_NAME POD_NAMESPACE POD_IP NODE_NAME NODE_IP NODE_VERSION
  NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR AWS_REGION AWS_DEFAULT_REGION
  AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_ROLE_ARN AWS_WEB_IDENTITY_TOKEN_FILE AWS_PROFILE GOOGLE_APPLICATION_CREDENTIALS
  AZURE_CLIENT_ID AZURE_TENANT_ID AZURE_CLIENT_SECRET AZURE_FEDERATED_TOKEN_FILE AZURE_AUTHORITY_HOST OTEL_EXPORTER_OTLP_ENDPOINT
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_TRACES_EXPORTER OTEL_METRICS_EXPORTER OTEL_LOGS_EXPORTER OTEL_SDK_DISABLED INVOCATION_ID JOURNAL_STREAM
  SYSTEMD_EXEC_PID NOTIFY_SOCKET LISTEN_FDS LISTEN_PID CREDENTIALS_DIRECTORY STATE_DIRECTORY CACHE_DIRECTORY LOGS_DIRECTORY RUNTIME_DIRECTORY
  COMPOSE_PROJECT_NAME MALLOC_ARENA_MAX LD_PRELOAD LD_LIBRARY_PATH UV_THREADPOOL_SIZE FORCE_COLOR NO_COLOR OPENAI_API_KEY ANTHROPIC_API_KEY VAULT_ADDR
  VAULT_TOKEN`.split(/\s+/);

it('no setting of one service, nor what is usual in environments, is a misspelt one of another', () => {
  const services = Object.values(settingsOfServices).map(({ described }) =>
    described.map(({ name }) => name),
  );
  const there = Object.fromEntries([...services.flat(), ...usual].map((name) => [name, '']));
  for (const own of services) expect(misspelt(own, there)).toEqual([]);
});
