export type AdminCall = <T>(method: string, path: string, body?: object) => Promise<T>;

/** Calls the admin API with its key. @throws Error for any answer but a 200 */
export function adminCaller(options: { baseUrl: string; adminKey: string }): AdminCall {
  return async <T>(method: string, path: string, body?: object): Promise<T> => {
    const reply = await fetch(`${options.baseUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-service-api-key': options.adminKey },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await reply.text();
    if (!reply.ok)
      throw new Error(`${method} ${path} answered ${reply.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as T;
  };
}
