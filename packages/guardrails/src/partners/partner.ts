import type { ParametersOf, PartnerId } from '@sluice/contracts/checks';
import type { JsonObject } from '@sluice/providers';
import type { CheckContext, HostQuestion } from '../check.ts';
import type { Reply } from './reply.ts';

/**
 * A service that checks for us: how it is asked of texts, and what its answer
 * means. Both are pure; `partner-check.ts` does the rest, alike for all.
 */
export interface PartnerOf<Parameters> {
  /** As its errors and the docs name it. */
  readonly name: string;
  /** The one event that it looks at; absent = both. */
  readonly only?: CheckContext['event'];
  /** Asked of each part of the text on its own, not of all at once. */
  readonly each?: boolean;
  /** For those who take tokens instead of keys: undefined = these credentials hold none to get. */
  readonly signIn?: {
    readonly request: (asked: AskedWith<Parameters>) => PartnerRequest | undefined;
    readonly token: (reply: Reply) => string;
  };
  readonly request: (asked: AskedWith<Parameters>) => PartnerRequest;
  /** @throws CheckError, by way of `Reply`, when the answer says nothing */
  readonly verdict: (reply: Reply, asked: AskedWith<Parameters>) => PartnerVerdict;
}

export interface AskedWith<Parameters> {
  readonly parameters: Parameters;
  readonly credentials: CredentialsOf<Parameters>;
  readonly event: CheckContext['event'];
  /** What is looked at, none of it empty. */
  readonly parts: readonly string[];
  /** The parts, joined by line breaks. */
  readonly text: string;
  /** What was asked of the model; empty where it says nothing. */
  readonly question: string;
  readonly context: CheckContext;
  /** What signing in gave; undefined where nobody has to. */
  readonly token: string | undefined;
}

/** Checks that can be told the same share what asks for them. */
export type Partner<Id extends PartnerId> = PartnerOf<ParametersOf<Id>>;
export type Asked<Id extends PartnerId> = AskedWith<ParametersOf<Id>>;

type CredentialsOf<Parameters> = Parameters extends { credentials?: infer Credentials }
  ? NonNullable<Credentials>
  : undefined;

export interface PartnerRequest extends Pick<HostQuestion, 'url' | 'signing'> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject | string;
}

export interface PartnerVerdict {
  /** Something that should not be there is, and `redacted` does not take it out. */
  readonly found: boolean;
  /** What of it, for the caller. */
  readonly data?: JsonObject;
  /** Each part without what was found; null for one that stays. */
  readonly redacted?: readonly (string | null)[] | undefined;
}
