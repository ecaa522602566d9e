import { readdirSync } from 'node:fs';
import { adminEndpoints, type Endpoint, type EndpointId } from '@sluice/contracts/admin';
import type { Example, Examples } from './example.ts';

/** An operation with one way to call it. */
export interface ContractCase {
  readonly id: EndpointId;
  readonly endpoint: Endpoint;
  readonly example: Example;
}

const folder = new URL('examples/', import.meta.url);

/** Every operation that has an example, in the order of the contract: another example is another file. */
export async function loadContract(): Promise<readonly ContractCase[]> {
  const files = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter((name) =>
    name.endsWith('.ts'),
  );
  const modules: { examples: Examples }[] = await Promise.all(
    files.map((name) => import(new URL(name, folder).href)),
  );
  const examples: Examples = Object.assign({}, ...modules.map((each) => each.examples));
  return Object.entries(adminEndpoints).flatMap(([name, endpoint]) => {
    const id = name as EndpointId;
    return [examples[id] ?? []].flat().map((example) => ({ id, endpoint, example }));
  });
}

/** For `it.each`: an operation by its address, numbered where there are several examples of it. */
export function titled(cases: readonly ContractCase[]): [string, ContractCase][] {
  return cases.map((each) => {
    const same = cases.filter(({ id }) => id === each.id);
    const number = same.length === 1 ? '' : ` (${same.indexOf(each) + 1})`;
    return [`${each.endpoint.method.toUpperCase()} ${each.endpoint.path}${number}`, each];
  });
}
