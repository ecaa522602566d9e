import {
  type CheckDeclaration,
  type CheckId,
  checkDeclarations,
  readParameters,
} from '@sluice/contracts/checks';
import { CheckError, type CheckFunction, type CheckKind } from './check.ts';
import { compilers } from './checks/index.ts';

/** Every check there is, by every spelling: `default.` may be left out. */
export const checkKinds: ReadonlyMap<string, CheckKind> = new Map(
  (Object.keys(checkDeclarations) as CheckId[]).flatMap((id) => {
    const kind = kindOf(id);
    const { aliases = [] }: CheckDeclaration = checkDeclarations[id];
    return [id, ...aliases].flatMap((spelling) => [
      [spelling, kind] as const,
      [spelling.replace(/^default\./, ''), kind] as const,
    ]);
  }),
);

export const knownChecks: ReadonlySet<string> = new Set(checkKinds.keys());

function kindOf(id: CheckId): CheckKind {
  return { id, compile: (given) => compile(id, given) };
}

function compile<Id extends CheckId>(id: Id, given: unknown): CheckFunction {
  const read = readParameters(id, given);
  if (!read.ok) throw new CheckError('InvalidParameters', read.fault);
  return compilers[id](read.parameters);
}
