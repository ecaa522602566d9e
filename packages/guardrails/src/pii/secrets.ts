import type { Finder, Finding } from './finding.ts';

/** Keys and tokens that their vendors give a form of their own, private keys, and passwords in addresses. */
export const findSecrets: Finder = function* (text) {
  for (const { 0: written, index } of text.matchAll(keys))
    yield { type: 'SECRET', start: index, end: index + written.length, value: written };
  for (const { 1: before = '', 2: password = '', index } of text.matchAll(inAddresses)) {
    const start = index + before.length;
    yield { type: 'SECRET', start, end: start + password.length, value: password };
  }
  for (const { 1: before = '', 2: secret = '', index } of text.matchAll(assigned)) {
    if (!/\d/.test(secret) || !/[A-Za-z]/.test(secret)) continue;
    const start = index + before.length;
    yield { type: 'SECRET', start, end: start + secret.length, value: secret };
  }
  yield* privateKeys(text);
};

/** By vendor; each with the length that its keys have at least. */
const vendors = [
  // OpenAI, Anthropic, OpenRouter, DeepSeek and others
  'sk-[A-Za-z0-9_-]{20,300}',
  // AWS
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}',
  // GitHub, GitLab
  'gh[pousr]_[A-Za-z0-9]{36,255}',
  'github_pat_[A-Za-z0-9_]{22,255}',
  'gl(?:pat|dt|rt|ptt|ft|soat)-[A-Za-z0-9_-]{20,300}',
  // Slack
  'xox[abeoprs]-[A-Za-z0-9-]{10,300}',
  'xapp-\\d-[A-Za-z0-9-]{10,300}',
  // Google
  'AIza[A-Za-z0-9_-]{35}',
  'ya29\\.[A-Za-z0-9_-]{20,500}',
  'GOCSPX-[A-Za-z0-9_-]{28}',
  // Stripe
  '(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,250}',
  // SendGrid, Mailgun, Twilio
  'SG\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}',
  'key-[0-9a-f]{32}',
  'SK[0-9a-f]{32}',
  // npm, PyPI, RubyGems, Docker
  'npm_[A-Za-z0-9]{36}',
  'pypi-[A-Za-z0-9_-]{50,500}',
  'rubygems_[0-9a-f]{48}',
  'dckr_pat_[A-Za-z0-9_-]{27}',
  // Hugging Face, Groq, xAI, Perplexity, Replicate, Fireworks, NVIDIA
  'hf_[A-Za-z]{34}',
  'gsk_[A-Za-z0-9]{48,60}',
  'xai-[A-Za-z0-9]{40,100}',
  'pplx-[A-Za-z0-9]{40,100}',
  'r8_[A-Za-z0-9]{37}',
  'fw_[A-Za-z0-9]{20,60}',
  'nvapi-[A-Za-z0-9_-]{60,80}',
  // DigitalOcean, Shopify, Square, Databricks, Linear, Notion, Vault, Fly, Sentry, Grafana
  'do[por]_v1_[0-9a-f]{64}',
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}',
  'sq0(?:atp|csp)-[A-Za-z0-9_-]{22,60}',
  'dapi[0-9a-f]{32}',
  'lin_api_[A-Za-z0-9]{40}',
  '(?:secret|ntn)_[A-Za-z0-9]{43,50}',
  'hvs\\.[A-Za-z0-9_-]{24,200}',
  'fo1_[A-Za-z0-9_-]{43}',
  'sntr[yu]s_[A-Za-z0-9_+/=]{40,300}',
  'glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}',
  // Telegram's bots
  '\\d{8,10}:AA[A-Za-z0-9_-]{33}',
  // JSON Web Tokens
  'eyJ[A-Za-z0-9_-]{10,4000}\\.eyJ[A-Za-z0-9_-]{10,4000}\\.[A-Za-z0-9_-]{10,1000}',
];
const keys = new RegExp(`(?<![A-Za-z0-9_-])(?:${vendors.join('|')})(?![A-Za-z0-9])`, 'g');

/** `scheme://user:password@host`: the password. */
const inAddresses =
  /(?<![a-z])([a-z][a-z0-9+.-]{1,15}:\/\/[^\s:@/]{0,64}:)([^\s:@/]{3,128})(?=@[\w.[-])/gi;

/** `api_key = …`: what it is called says what it is, if it looks like none that people read. */
const assigned =
  /(?<![A-Za-z])((?:api[_-]?key|apikey|secret[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|account[_-]?key|aws_secret_access_key|password|passwd|pwd)["']?\s{0,4}(?:=|:)\s{0,4}["']?)([A-Za-z0-9+/_.!@#$%^&*~-]{8,200}={0,2})/gi;

/** A whole block, or what there is of it until the next begins. */
function* privateKeys(text: string): Iterable<Finding> {
  const begin = '-----BEGIN ';
  for (let at = text.indexOf(begin); at >= 0; ) {
    const next = text.indexOf(begin, at + begin.length);
    const block = text.slice(at, Math.min(next < 0 ? text.length : next, at + keyLengthMax));
    if (keyHead.test(block)) {
      const close = /-----END [A-Z0-9 ]{1,40}-----/.exec(block);
      const end = at + (close === null ? block.length : close.index + close[0].length);
      yield { type: 'SECRET', start: at, end, value: text.slice(at, end) };
    }
    at = next;
  }
}

/**
 * Where a private key begins whose end has not come: what follows would be nothing by
 * itself. Undefined = there is none, or it is longer than any is.
 */
export function openKeyAt(text: string): number | undefined {
  const tail = text.slice(-keyHeadLengthMax);
  if (/-----END [A-Z0-9 ]{1,40}-----$/.test(tail)) return undefined;
  const begun = keyHeadBegun.exec(tail);
  if (begun !== null) return text.length - begun[0].length;
  const at = text.lastIndexOf('-----BEGIN ');
  if (at < 0 || text.length - at > keyLengthMax) return undefined;
  const block = text.slice(at);
  return keyHead.test(block) && !/-----END [A-Z0-9 ]{1,40}-----/.test(block) ? at : undefined;
}

/** What may become the head of one. */
const keyHeadBegun = /(?:-----(?:B|BE|BEG|BEGI|BEGIN|BEGIN [A-Z0-9 ]{0,40}-{0,4})|-{1,5})$/;
const keyHeadLengthMax = 64;

const keyHead = /^-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----/;

/** Of RSA with 16,384 bits, in letters. */
const keyLengthMax = 13_000;
