const usual = 'http://127.0.0.1:8787';

/** Where a gateway is asked. */
export function gatewayOrigin(url: string | undefined): string {
  return new URL(url ?? usual).origin;
}
