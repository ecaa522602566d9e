import { createSecureContext } from 'node:tls';
import {
  bool,
  certificates,
  integer,
  oneOf,
  optionalSecret,
  optionalText,
  SettingsError,
  url,
} from '@sluice/env';
import type { OtlpProtocol } from './export-request.ts';
import type { OtlpTarget } from './exporter.ts';

/** What all exports of a service have in common, under OpenTelemetry's own names. */
export const exporterSettings = {
  OTEL_EXPORTER_OTLP_COMPRESSION: oneOf(
    'how bodies of exports are compressed',
    ['none', 'gzip'],
    'none',
  ),
  OTEL_EXPORTER_OTLP_TIMEOUT: integer('ms of one post', 10_000, 1, 600_000),
  OTEL_EXPORTER_OTLP_CERTIFICATE: certificates(
    'authority of the receivers’ certificates, PEM; unset = the public ones',
  ),
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: certificates('our certificate at the receivers, PEM'),
  OTEL_EXPORTER_OTLP_CLIENT_KEY: optionalSecret('its key, PEM'),
  OTEL_SERVICE_NAME: optionalText('`service.name` of exports; default: SERVICE_NAME'),
  OTEL_RESOURCE_ATTRIBUTES: optionalText('further attributes of all exports, `name=value,…`'),
};

/** The receiver that all services share, and what each of them tells it of itself. */
export const receiverSettings = {
  OTEL_ENDPOINT: url('base of the receiver; `/v1/traces` and `/v1/logs` are appended'),
  OTEL_EXPORTER_OTLP_HEADERS: optionalSecret('headers sent to it, `name=value,…`'),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(
    'how it is spoken to',
    ['http/json', 'http/protobuf'],
    'http/json',
  ),
  OTEL_LOGS_ENABLED: bool('send the lines of this service’s log there, too', false),
  ...exporterSettings,
};

/** What forwarding a log takes of it. */
export interface LogForwardEnv extends ExporterEnv {
  readonly OTEL_LOGS_ENABLED: boolean;
  readonly OTEL_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_PROTOCOL: OtlpProtocol;
  readonly OTEL_SERVICE_NAME?: string | undefined;
  readonly OTEL_RESOURCE_ATTRIBUTES?: string | undefined;
}

export interface ExporterEnv {
  readonly OTEL_EXPORTER_OTLP_COMPRESSION: 'none' | 'gzip';
  readonly OTEL_EXPORTER_OTLP_TIMEOUT: number;
  readonly OTEL_EXPORTER_OTLP_CERTIFICATE?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_CLIENT_KEY?: string | undefined;
}

/** Where one flow goes, by the names of its settings. */
export interface TargetAddress {
  readonly endpoint: readonly [name: string, value: string | undefined];
  readonly headers: readonly [name: string, value: string | undefined];
  readonly protocol: OtlpProtocol;
  /** Appended to the endpoint, unless it ends so. */
  readonly path: '/v1/traces' | '/v1/logs';
}

/** @throws SettingsError that names the setting which is missing or wrong */
export function readTarget(env: ExporterEnv, address: TargetAddress): OtlpTarget {
  const [name, value] = address.endpoint;
  if (value === undefined) throw new SettingsError([`${name} must say where exports are sent to`]);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new SettingsError([`${name} must be an address that begins with http:// or https://`]);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new SettingsError([`${name} must be an address without user, query and fragment`]);
  const base = url.pathname.replace(/\/+$/, '');
  return {
    origin: url.origin,
    path: base.endsWith(address.path) ? base : `${base}${address.path}`,
    headers: headersOf(address.headers),
    protocol: address.protocol,
    isCompressed: env.OTEL_EXPORTER_OTLP_COMPRESSION === 'gzip',
    timeoutMs: env.OTEL_EXPORTER_OTLP_TIMEOUT,
    tls: tlsOf(env),
  };
}

function tlsOf(env: ExporterEnv): OtlpTarget['tls'] {
  const cert = env.OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE;
  const key = env.OTEL_EXPORTER_OTLP_CLIENT_KEY;
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new SettingsError([
      `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY cannot be used: ${(error as Error).message}`,
    ]);
  }
  return { ca: env.OTEL_EXPORTER_OTLP_CERTIFICATE, cert, key };
}

function headersOf([name, value]: TargetAddress['headers']): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [key, text] of Object.entries(readPairs(name, value))) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(key) || !/^[\t\x20-\x7e]*$/.test(text))
      throw new SettingsError([`${name} has what cannot be a header`]);
    headers[key.toLowerCase()] = text;
  }
  return headers;
}

/**
 * `name=value,name=value`, percent-encoded where need be.
 * @throws SettingsError that names the setting, and shows nothing of its value
 */
export function readPairs(name: string, value: string | undefined): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const item of (value ?? '').split(',')) {
    if (item.trim() === '') continue;
    const at = item.indexOf('=');
    const key = item.slice(0, Math.max(0, at)).trim();
    if (key === '') throw new SettingsError([`${name} must be a list of name=value`]);
    pairs[key] = decoded(item.slice(at + 1).trim());
  }
  return pairs;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
