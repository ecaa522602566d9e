import {
  type CheckDeclaration,
  type CheckId,
  checkDeclarations,
  readParameters,
} from '@sluice/contracts/checks';
import { CheckError, type CheckKind, type CompiledCheck } from './check.ts';
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
  const { judges = 'texts' }: CheckDeclaration = checkDeclarations[id];
  return { id, judges, compile: (given) => compile(id, given) };
}

function compile<Id extends CheckId>(id: Id, given: unknown): CompiledCheck {
  const read = readParameters(id, given);
  if (!read.ok) throw new CheckError('InvalidParameters', read.fault);
  // Published under either name.
  const { timeoutMs, timeout = timeoutMs }: Readonly<Record<string, unknown>> = read.parameters;
  return {
    run: compilers[id](read.parameters),
    deadlineMs: typeof timeout === 'number' ? timeout : undefined,
  };
}
