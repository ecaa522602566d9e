import type { VariedHeader } from './load-job.ts';

/** Where load goes: a subject, or the upstream itself. */
export interface Place {
  name: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** One more header, different for each request. */
  varied?: VariedHeader;
  pid?(): number;
  /** What its replies are when they are not the upstream's chat replies. */
  replies?: { unary: ExpectedReply; stream: ExpectedReply };
  /** What it is asked, where that is no chat. */
  body?: string;
  method?: string;
}

/** A gateway may rewrite a reply; it may not lose most of it. */
export interface ExpectedReply {
  bytesMin: number;
  endsWith: string;
}
