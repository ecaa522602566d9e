import { partnerCheck } from './partner-check.ts';
import type { Reply } from './reply.ts';

const name = 'Promptfoo';

const question = (check: string, input: string) => ({
  url: `https://api.promptfoo.dev/v1/${check}`,
  body: { input },
});

function resultOf(reply: Reply): Reply {
  const [result] = reply.at('results').listOf(1);
  return result ?? reply.refuse('one result');
}

export const promptfooPartners = {
  'promptfoo.guard': partnerCheck('promptfoo.guard', {
    name,
    request: ({ text }) => question('guard', text),
    verdict: (reply) => ({ found: resultOf(reply).at('categories').at('jailbreak').flag() }),
  }),
  'promptfoo.harm': partnerCheck('promptfoo.harm', {
    name,
    request: ({ text }) => question('harm', text),
    verdict: (reply) => ({ found: resultOf(reply).at('flagged').flag() }),
  }),
  'promptfoo.pii': partnerCheck('promptfoo.pii', {
    name,
    each: true,
    request: ({ text }) => question('pii', text),
    verdict(reply, { text, parameters: { redact } }) {
      const result = resultOf(reply);
      const found = result.at('flagged').flag();
      if (!found || !redact) return { found };
      // By what was found, not by where: its places have not always been those of the text.
      const redacted = result
        .at('payload')
        .at('pii')
        .list()
        .reduce(
          (all, entry) =>
            all.replaceAll(
              entry.at('pii').text(),
              `[${entry.at('entity_type').text().toUpperCase()}]`,
            ),
          text,
        );
      return redacted === text ? { found } : { found: false, redacted: [redacted] };
    },
  }),
};
