/** How sure the text plays turns that are not its own to write. */
export function judgeTemplates(text: string): number {
  let best = 0;
  for (const [pattern, weight] of patterns) if (weight > best && pattern.test(text)) best = weight;
  return Math.max(best, judgeTurns(text));
}

/** Tokens with which the templates of models mark turns; ends of requests that were made up. */
const patterns: readonly (readonly [RegExp, number])[] = [
  [
    /<\|(?:im_start|im_end|im_sep|system|user|assistant|start_header_id|end_header_id|eot_id|begin_of_text|endoftext|end_of_turn|channel|message|return|start)\|>/i,
    0.7,
  ],
  [
    /<(?:start|end)_of_turn>|<[|｜](?:User|Assistant|begin▁of▁sentence|end▁of▁sentence)[|｜]>/i,
    0.7,
  ],
  [/\[\/?INST\]|<<\/?SYS>>/i, 0.7],
  [/<\/s>\s{0,8}<s>/i, 0.6],
  [/"role"\s{0,8}:\s{0,8}"(?:system|developer)"\s{0,8},\s{0,8}"content"/i, 0.6],
  [
    /<\/(?:user_?input|user_?query|user_?message|document|context)>\s{0,20}<(?:system|instructions?|developer)/i,
    0.7,
  ],
  [/\[(?:system|developer)\]\s{0,4}\(#/i, 0.6],
  [
    /-{2,20}\s{0,4}(?:end of (?:user )?(?:input|prompt|message)|begin (?:new )?system (?:prompt|message))/i,
    0.7,
  ],
  [/<(system|developer|system_prompt)>[^<]{10,2000}<\/\1>/i, 0.5],
];

/** One line that begins with a role says little, a dialogue of them much. */
function judgeTurns(text: string): number {
  const roles = new Set<string>();
  let hasGap = false;
  for (const { 1: gap = '', 2: role = '' } of text.matchAll(turn)) {
    roles.add(role.toLowerCase());
    if (gap.length > 1) hasGap = true;
    if (roles.size > 2) break;
  }
  if (roles.has('assistant') && (roles.has('system') || roles.has('human'))) return 0.7;
  if (roles.has('instruction') && roles.has('response')) return 0.6;
  return roles.has('system') && hasGap ? 0.3 : 0;
}

const turn =
  /(?:^|(\n{1,3}))[ \t]{0,8}(?:#{1,4} )?(system|assistant|human|instruction|response) ?:/gi;
