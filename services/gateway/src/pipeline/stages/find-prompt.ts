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
  return (exchange, next) => {
    expectModelCall(exchange);
    try {
      find(exchange);
    } catch (error) {
      return lookAgain(exchange, newer, error, () => find(exchange)).then(next);
    }
    return next();
  };
}

function referenceIn(pathname: string): string {
  const [, reference = ''] = /^\/v1\/prompts\/([^/]+)\//.exec(pathname) ?? [];
  try {
    return decodeURIComponent(reference);
  } catch (error) {
    throw new GatewayError('prompt.not_found', { field: 'path.promptId', cause: error });
  }
}
