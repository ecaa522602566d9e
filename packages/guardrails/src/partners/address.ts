/** An address below a base, whether that ends in a slash or not. */
export function below(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}${path}`;
}
