import { operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { PromptCompiler } from '../../compiled/prompt-compiler.ts';
import { expectModelCall, type ModelExchange } from '../../exchange/exchange.ts';
import { lookAgain } from '../../held/look-again.ts';
import type { NewerBundles } from '../../held/newer-bundles.ts';
import type { Stage } from '../pipeline.ts';

/** The saved prompt that the path names. It says which endpoint its request is for. */
export function findPrompt(prompts: PromptCompiler, newer: Pick<NewerBundles, 'after'>): Stage {
  const find = (exchange: ModelExchange) => {
    if (exchange.bundle === undefined) throw new Error('findPrompt runs after authenticate');
    const prompt = prompts.find(exchange.bundle, referenceIn(exchange.subject.pathname));
    exchange.subject.prompt = prompt;
    const endpoint = prompt.template.kind === 'text' ? 'complete' : 'chatComplete';
    exchange.subject.operation = operations[endpoint];
  };
  const findNewest = async (exchange: ModelExchange) => {
    exchange.bundle = (exchange.bundle && (await newer.after(exchange.bundle))) ?? exchange.bundle;
    find(exchange);
  };
  return (exchange, next) => {
    expectModelCall(exchange);
    if (exchange.arrival.headers[refreshHeader] === 'true') return findNewest(exchange).then(next);
    try {
      find(exchange);
    } catch (error) {
      return lookAgain(exchange, newer, error, () => find(exchange)).then(next);
    }
    return next();
  };
}

/** Nothing is kept longer than a change takes to arrive: it asks whether one is on its way. */
const refreshHeader = 'x-service-refresh-prompt-cache';

function referenceIn(pathname: string): string {
  const [, reference = ''] = /^\/v1\/prompts\/([^/]+)\//.exec(pathname) ?? [];
  try {
    return decodeURIComponent(reference);
  } catch (error) {
    throw new GatewayError('prompt.not_found', { field: 'path.promptId', cause: error });
  }
}
