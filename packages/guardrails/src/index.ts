/**
 * What guardrail checks look at and decide, pure: no network, clock or log.
 * Start at `check.ts` (the shapes), then `checks/index.ts` (which there are).
 */
export { forwardedHeaderFault, needsCredentials } from '@sluice/contracts/checks';
export {
  type AskHost,
  type AwsSigning,
  type CheckContext,
  CheckError,
  type CheckFault,
  type CheckFunction,
  type CheckKind,
  type CheckOutcome,
  type CompiledCheck,
  type EmbedText,
  type HostAnswer,
  type HostQuestion,
  isRequestFault,
} from './check.ts';
export { checkKinds, knownChecks } from './check-kinds.ts';
export { type ClaimRule, claimFaults, claimRules } from './claim-rules.ts';
export {
  type InjectionVerdict,
  judgeInjection,
  type Speaker,
} from './injection/judge-injection.ts';
export { judgesParts } from './judges-parts.ts';
export { Identifiers, type RedactionMap } from './pii/identifiers.ts';
export { Restorer } from './pii/restorer.ts';
export { openKeyAt } from './pii/secrets.ts';
export { type ReadableText, readText } from './reading/readable-text.ts';
