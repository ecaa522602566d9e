import { readText } from '@sluice/guardrails';

/**
 * What poisoned definitions say, beside what any injection says: words that follow each other within some characters. Each
 * list of words is sought by itself, once, so that no text makes it slow.
 */
interface Chain {
  readonly name: string;
  readonly steps: readonly RegExp[];
  /** Characters between the end of one and the beginning of the next, at most. */
  readonly gaps: readonly number[];
}

/** Names of what is found in a text of some thousand characters. */
export function poisonsIn(text: string): string[] {
  const { text: folded, hidden } = readText(text);
  const all = [folded, ...hidden.map((unseen) => unseen.toLowerCase())]
    .join('\n')
    .replace(/\s+/g, ' ');
  const names = new Set<string>();
  for (const chain of chains) if (!names.has(chain.name) && isIn(chain, all)) names.add(chain.name);
  return [...names];
}

function isIn({ steps, gaps }: Chain, text: string): boolean {
  let ends: number[] | undefined;
  for (const [index, step] of steps.entries()) {
    const next: number[] = [];
    let from = 0;
    for (const match of text.matchAll(step)) {
      const start = match.index;
      if (ends !== undefined) {
        const gap = gaps[index - 1] ?? 0;
        while (from < ends.length && (ends[from] as number) < start - gap) from++;
        // Ends come in their order: this one is the nearest that is not too far.
        if (from === ends.length || (ends[from] as number) > start) continue;
      }
      next.push(start + match[0].length);
    }
    if (next.length === 0) return false;
    ends = next;
  }
  return true;
}

/** @param parts words of a step, then the gap to the next, and so on */
function chain(name: string, ...parts: (string | number)[]): Chain {
  return {
    name,
    steps: parts
      .filter((part) => typeof part === 'string')
      .map((words) => new RegExp(`(?<![a-z0-9])(?:${words})(?![a-z0-9])`, 'g')),
    gaps: parts.filter((part) => typeof part === 'number'),
  };
}

/** The same without word boundaries around it. */
function marks(name: string, pattern: RegExp): Chain {
  return { name, steps: [pattern], gaps: [] };
}

const not =
  "do not|don'?t|dont|never|without|must not|should not|mustn't|shouldn't|avoid|no need to|not";
const tells =
  'tell|telling|mention|mentioning|inform|informing|show|showing|reveal|revealing|notify|notifying|alert|alerting|disclose|disclosing|explain|explaining|ask|asking|warn|warning|let|display|displaying';
const people =
  "(?:to )?(?:the |any |your |an? )?(?:users?|humans?|person|people|operator|customer|anyone|anybody|them)(?:'s)?";
const secrets =
  '\\.ssh[/\\\\]?\\w*|id_rsa(?:\\.pub)?|id_ed25519|authorized_keys|\\.env|\\.aws(?:/credentials)?|aws credentials|\\.netrc|\\.npmrc|\\.kube/config|/etc/(?:passwd|shadow)|mcp\\.json|\\.cursor/\\S{1,40}|claude_desktop_config\\S{0,5}|private keys?|ssh keys?|seed phrase|\\w{0,40}(?:api_key|_token|_secret|_password|_secret_key)|environment variables|env vars|wallet files?|stored credentials|users? credentials|saved passwords|browser cookies|session cookies?|keychain';
const takes =
  'read|reads|cat|open|load|fetch|get|collect|gather|retrieve|extract|copy|include|append|attach|send|pass|put|provide|forward|upload|post|submit|dump|print|encode|paste|list|find|look up';
const gives =
  'pass|put|include|provide|copy|insert|append|attach|send|paste|place|forward|fill|add|supply|upload|post|submit|set|encode|as|in|into|to|with';
const talk =
  "conversation|chat history|message history|conversation history|system prompt|system message|previous messages|prior messages|earlier messages?|previous messages?|all messages|user'?s? (?:last |previous |original )?(?:message|prompt|request)s?|full context|your context|context window|your instructions|tool outputs?|tool results?|results? of (?:all |any )?(?:other|previous) tools?|outputs? of (?:all |any )?(?:other|previous) tools?";
const wholly = 'entire|full|whole|complete|verbatim|all|every|exact|contents? of';
const others = 'any other|all other|every other|other|another|any|all|every|each';
const address = '[\\w.+-]{1,64}@[\\w-]{1,64}\\.[a-z]{2,}|0x[0-9a-f]{16,}|bc1[0-9a-z]{14,}';
const url = '(?:https?|wss?|ftp)://\\S{3,200}|[a-z0-9-]{1,63}\\.(?:attacker|evil)\\.[a-z]{2,}';

const chains: readonly Chain[] = [
  chain('concealment', not, 24, tells, 14, people),
  chain(
    'concealment',
    'hide|hidden|conceal|concealed|secret|invisible|keep',
    30,
    'from',
    1,
    people,
  ),
  chain(
    'concealment',
    'silently|secretly|quietly|covertly|in the background',
    40,
    `${takes}|call|invoke|run|execute`,
    60,
    `${secrets}|${talk}|${url}|other tools?`,
  ),
  marks(
    'pseudo_tag',
    /<\/?(?:important|system|instructions?|secret|hidden|admin|assistant|critical|override|priority|sys|im_start|mandatory|internal)(?:[ /][^<>]{0,40})?>/g,
  ),
  marks('pseudo_tag', /\[\/?(?:system|inst|instructions?|admin|important)\]|<\|[a-z_]{2,20}\|>/g),
  chain(
    'secrets',
    'you|must|first|always|then|also|please|before|instead|required|need to|should',
    60,
    takes,
    60,
    secrets,
    120,
    gives,
  ),
  chain('secrets', `${takes}`, 40, 'contents?|values?|copy', 40, secrets),
  marks(
    'secrets',
    /(?:~|\$home|\/root|\/home\/\w{1,32}|%userprofile%)[/\\]?\.(?:ssh|aws|cursor|env|kube|gnupg|netrc|config\/gh)/g,
  ),
  chain(
    'context',
    'pass|put|include|provide|supply|give|hand over|copy|insert|append|attach|send|paste|summari[sz]e|repeat|write|place|forward|fill|must contain|should contain',
    50,
    wholly,
    30,
    talk,
  ),
  chain(
    'other_tools',
    'before|after|when|whenever|while|prior to|instead of',
    6,
    '(?:you )?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|run(?:ning)?)',
    12,
    others,
    12,
    'tools?',
    60,
    'must|always|first|never|call|instead|send|include|should',
  ),
  chain(
    'other_tools',
    '(?:any|all|every|each|the) other tools?',
    60,
    'deprecated|unsafe|broken|disabled|insecure|must not|should not|never|do not|ignore|unavailable|obsolete|forbidden|compromised',
  ),
  chain(
    'other_tools',
    "do not|don'?t|never|must not|stop",
    30,
    'use|call|trust|using|calling',
    20,
    '(?:any|all|the) other (?:tools?|servers?|mcp)',
  ),
  chain(
    'other_tools',
    'tools?|servers?|mcp',
    60,
    'compromised|superseded by this|replaced by this|no longer (?:safe|trusted|trustworthy)',
  ),
  chain(
    'redirection',
    'bcc|cc|forward|redirect|send|copy|e-?mail|mail|transfer|wire|deliver|route|change|replace|set',
    90,
    address,
  ),
  chain(
    'exfiltration',
    'send|post|upload|forward|report|transmit|exfiltrate|log|submit|beacon|curl|wget',
    60,
    'everything|all|entire|full|whole|contents?|results?|outputs?|conversation|arguments?|history|files?|secrets?|copy',
    60,
    `${url}|webhook`,
  ),
  chain(
    'permissions',
    'users?|humans?|owner|administrator|admin',
    30,
    'has|have|already',
    30,
    'approved|authori[sz]ed|consented|given permission|given consent|pre-?approved',
  ),
  chain(
    'permissions',
    'without|skip|bypass|no',
    20,
    'confirmation|approval|consent|permission',
    40,
    'always|execute|run|delete|proceed|required',
  ),
  chain(
    'system',
    '(?:as|from) (?:the )?(?:system|developer|developers|anthropic|openai|administrator)',
    30,
    'you must|instructions?|order|message|directive',
  ),
  chain(
    'system',
    '(?:new|updated) (?:system )?(?:instructions?|directive|policy)',
    20,
    ':|you must|from now|apply|effective',
  ),
  chain(
    'system',
    '(?:system|developer|security) (?:override|instruction|directive|notice|policy update)',
  ),
  chain('concealment', 'keep|keeps', 30, 'to (?:itself|yourself|themselves)'),
  chain(
    'concealment',
    "do not|don't|never|without",
    3,
    'explain|explaining|say|saying',
    10,
    'why|anything|it|so|this|that',
  ),
  chain(
    'concealment',
    'users?|humans?',
    3,
    'must not|should not|may not|must never|should never',
    12,
    'learn|know|see|notice|hear|find out',
  ),
  chain(
    'concealment',
    'without|no',
    12,
    'saying so|anyone noticing|being seen|being noticed|trace|dialogs?',
  ),
  chain(
    'concealment',
    'ne rien dire|ne pas dire|ne le dites pas|nichts sagen|nicht erwahnen|no le digas|no lo menciones|non dire|не говори',
    12,
    '.{0,4}',
  ),
  chain(
    'other_tools',
    'instead of|rather than|in place of',
    1,
    '(?:any|all|every) other|the others|built-in|native',
    24,
    'tools?|reader|functions?|servers?',
    60,
    'false|wrong|fake|infected|malicious|unsafe|insecure|unreliable|never|must|broken|do not',
  ),
  chain(
    'other_tools',
    not,
    20,
    'use|call|trust|using|calling',
    12,
    'built-in|native|default|official',
    40,
    'infected|malicious|unsafe|insecure|compromised|false|broken',
  ),
  chain(
    'other_tools',
    'before|prior to',
    2,
    'anything else|doing anything|answering|responding|any other action',
    60,
    `${takes}|call|invoke|run|execute|look`,
    60,
    `${secrets}|home directory|shell|command|curl|wget|files?|tools?`,
  ),
  chain(
    'other_tools',
    'bearer token|access tokens?|api keys?|credentials|headers?|secrets?',
    30,
    'other|another',
    3,
    'servers?|tools?|mcp',
  ),
  chain(
    'secrets',
    `${takes}|look`,
    40,
    'home directory|documents folder|desktop folder|~/(?:documents|desktop|downloads)|wallets?|downloads folder',
    60,
    'pass|send|give|supply|attach|forward|upload|post|include',
  ),
  chain(
    'secrets',
    'ask|request|prompt|demand',
    24,
    'for',
    16,
    'password|passphrase|pin code|card number|one-time (?:code|password)|2fa code|security code|social security number|recovery (?:code|phrase)',
  ),
  chain(
    'redirection',
    'use|replace|change|transfer|send|pay|set|put',
    40,
    '[a-z]{2}[0-9]{2}(?: ?[0-9a-z]{4}){3,7}',
  ),
  chain(
    'system',
    'supersedes?|overrides?|replaces?|takes precedence over|outranks?',
    24,
    'polic(?:y|ies)|rules?|guidelines?|instructions?|prompts?|safety',
    20,
    'of|from|by|your|the',
    16,
    'developers?|system|operator|provider|anthropic|openai|users?',
  ),
  chain(
    'system',
    'treat',
    30,
    'as',
    1,
    '(?:coming |being )?(?:from )?(?:the )?(?:operator|system|developer|administrator|user)',
  ),
  chain('system', 'forget', 20, 'system|developers?|operator', 12, 'told|said|instructed|taught'),
  chain(
    'permissions',
    'act as if|as though|pretend',
    24,
    'approved|authori[sz]ed|confirmed|allowed|consented',
  ),
  chain(
    'permissions',
    'outputs?|results?|text|answers?',
    12,
    'must|should|has to|is to',
    6,
    'be (?:executed|run|obeyed|followed|evaluated)',
  ),
  marks(
    'command',
    /(?<![a-z])(?:curl|wget|iwr|irm)\b[^|]{1,200}\|\s{0,3}(?:sudo )?(?:ba|z|da)?sh\b|(?<![a-z])(?:nc|ncat) -e\b|(?<![a-z])powershell(?:\.exe)? -e(?:nc|ncodedcommand)?\b|(?<![a-z])base64 -d\b[^|]{0,80}\|\s{0,3}(?:ba)?sh\b/g,
  ),
];
