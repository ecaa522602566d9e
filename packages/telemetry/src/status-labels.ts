/** Statuses that are told apart in metrics. */
const known = [
  200, 201, 202, 204, 206, 301, 302, 304, 307, 400, 401, 402, 403, 404, 405, 408, 409, 410, 412,
  413, 415, 422, 424, 429, 431, 446, 499, 500, 501, 502, 503, 504, 529,
];
const names = new Map(known.map((status) => [status, String(status)]));

/** A status as a label: itself when it is a usual one, else its class (`4xx`). Upstreams invent statuses. */
export function statusLabel(status: number): string {
  return names.get(status) ?? statusClass(status);
}

/** `2xx`; `other` for what is no status. */
export function statusClass(status: number): string {
  return status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : 'other';
}

export const statusClasses: ReadonlySet<string> = new Set(['1xx', '2xx', '3xx', '4xx', '5xx']);

/** Every label that `statusLabel` gives. */
export const statusLabels: ReadonlySet<string> = new Set([...names.values(), ...statusClasses]);
