import type { ServiceError } from '@grpc/grpc-js';

/**
 * What the log says of something that failed with a call to another service: why that did not answer, or was refused there, is no
 * fault of this one and has no stack.
 */
export function callFault(error: unknown): { reason: string } | { err: unknown } {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code, details } = each as Partial<ServiceError>;
    if (typeof code === 'number' && typeof details === 'string') return { reason: each.message };
  }
  return { err: error };
}
