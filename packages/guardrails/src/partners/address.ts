/** Whether one of the values is this address's host, a domain above it, or an address at it. */
export function namesHost(values: readonly unknown[], url: string): boolean {
  const { hostname } = new URL(url);
  return values.some((value) => {
    if (typeof value !== 'string' || value === '') return false;
    const text = value.toLowerCase();
    const named = URL.canParse(text) ? new URL(text).hostname : text;
    return (
      named !== '' &&
      (hostname === named || (named.includes('.') && hostname.endsWith(`.${named}`)))
    );
  });
}

/** An address below a base, whether that ends in a slash or not. */
export function below(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}${path}`;
}
