import { bool, integer, oneOf, optionalSecret, optionalText, url } from '@sluice/env';

const protocols = ['http/json', 'http/protobuf'] as const;

/** What of requests is told by OTLP, and where to; names in two spellings are the same setting. */
export const otlpSettings = {
  OTEL_PUSH_ENABLED: bool('send each record of the ledger as a span, without any text', false),
  OTEL_QUEUE_BYTES_MAX: integer(
    'bytes of spans that wait for each receiver; beyond it they are dropped',
    16 * 1024 * 1024,
    1024 * 1024,
  ),
  EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED: bool(
    'send each record as a span with what was asked and answered, where that may be kept',
    false,
  ),
  EXPERIMENTAL_GEN_AI_OTEL_PUSH_ENABLED: bool('see EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED', false),
  EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT: url(
    'base of the receiver of such spans; `/v1/traces` is appended',
  ),
  EXPERIMENTAL_GEN_AI_OTEL_OTLP_ENDPOINT: url(
    'see EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT',
  ),
  EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_HEADERS: optionalSecret(
    'headers sent to it, `name=value,…`',
  ),
  EXPERIMENTAL_GEN_AI_OTEL_OTLP_HEADERS: optionalSecret(
    'see EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_HEADERS',
  ),
  EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(
    'how it is spoken to',
    protocols,
    'http/json',
  ),
  EXPERIMENTAL_GEN_AI_OTEL_RESOURCE_ATTRIBUTES: optionalText(
    'further attributes of such exports, `name=value,…`',
  ),
};
