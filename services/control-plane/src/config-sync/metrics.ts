import { config } from '@sluice/proto-stubs';
import { addCounter, type Metrics } from '@sluice/telemetry';

/** A method of ConfigService by its local name. */
export type ObserveQuestion = (method: keyof typeof config.ConfigService.method) => void;

/** What gateways ask, by method. */
export function createQuestionMetrics({ registry }: Metrics): ObserveQuestion {
  const methods = new Set(config.ConfigService.methods.map(({ localName }) => localName));
  const count = addCounter(
    registry,
    'sluice_config_questions_total',
    'Questions of gateways by method.',
    { labels: { method: methods }, seriesMax: 20 },
  );
  return (method) => count.child({ method }).add(1);
}
