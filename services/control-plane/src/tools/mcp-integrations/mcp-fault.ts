import { GatewayError } from '@sluice/errors';

/** Why a server could not be asked, in words that hold nothing of what it sent. */
export class McpFault extends Error {
  override readonly name = 'McpFault';
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

const faults: Partial<Record<GatewayError['code'], string>> = {
  'upstream.timeout': 'The server did not answer in time.',
  'upstream.connect_timeout': 'The server could not be reached in time.',
  'upstream.unreachable': 'The server could not be reached.',
  'upstream.response_too_large': 'The server sent more than is read.',
  'request.invalid_header': 'A header has characters that HTTP forbids.',
  'request.too_deep': 'The server answered with something that is no JSON.',
  'request.too_many_values': 'The server answered with something that is no JSON.',
};

export function faultOf(error: unknown): McpFault {
  if (error instanceof McpFault) return error;
  if (!(error instanceof GatewayError))
    return new McpFault('The connection to the server broke.', undefined, error);
  const isRefused = error.code === 'host.invalid' || error.code === 'host.air_gapped';
  const text = isRefused ? error.message : faults[error.code];
  return new McpFault(text ?? 'The connection to the server broke.', undefined, error);
}
