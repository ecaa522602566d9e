/** Fields that hold headers: the value of any of them may be a credential, whatever its name. */
const headerMaps = new Set([
  'headers',
  'custom_headers',
  'customHeaders',
  'passthrough_header',
  'passthrough_headers',
]);

export function isHeaderMap(name: string): boolean {
  return headerMaps.has(name);
}
