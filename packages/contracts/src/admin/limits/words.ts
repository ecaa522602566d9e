/** What fields of limits and policies mean. */
export const limitWords = {
  all_workspaces:
    'Whether it is the organisation’s: it applies in every workspace, those to come too, and counts over all of them together. Excludes `workspace_id`; needs an organisation key. Default: false.',
  usage_limits: 'How much may be used in all.',
  rate_limits: 'How much may be used in a time.',
  credit_limit: 'How much may be used: US dollars, or tokens, by `type`.',
  alert_threshold: 'From how much on people are told; 0, which policies take, is the first use.',
  periodic_reset: 'How often the counter begins anew; null = never, or every so many days.',
  periodic_reset_days: 'Every how many days the counter begins anew.',
  next_usage_reset_at: 'When the counter begins anew next.',
  is_threshold_alerts_sent: 'Whether people were told that the limit is near.',
  is_exhausted_alerts_sent: 'Whether people were told that the limit is reached.',
  unit: 'In which time it counts.',
  'usage_limits.type': 'What is counted: cost or tokens.',
  'rate_limits.type': 'What is counted: requests or tokens.',
  'rate_limits.value': 'How many of them, in the time that `unit` names.',
  'usage-limits-policies.type': 'What is counted: cost, tokens or requests.',
  'rate-limits-policies.type': 'What is counted: requests or tokens.',
  'rate-limits-policies.value': 'How many of them, in the time that `unit` names.',
  'rate-limits-policies.target': 'What is limited: calls of models, or of tools.',
  conditions: 'Which requests the policy is about; all that meet every one of them.',
  'conditions.key': 'What of a request is looked at.',
  'conditions.value': 'What it must be.',
  excludes: 'What it must not be.',
  group_by: 'By what requests are counted apart.',
  'group_by.key': 'What of a request tells the groups apart.',
  value_key: 'Whose counter it is: the values it groups by.',
  value_key_usage_map: 'How much was used, by whose counter it is.',
  current_usage: 'How much was used since the counter began.',
  include_usage: 'Whether to say how much was used.',
  reset_usage_for_value: 'Whose counter begins anew.',
  reserved:
    'What requests in flight hold of it, with what gateways leased of it for a time without Redis.',
  overshoot_bound:
    'By how much requests in flight may take it beyond the limit at most; 0 where what is left has room for all of them.',
  shadow: 'Whether the limit is only counted, and refuses nothing.',
  admission:
    '`strict`: what a request is estimated to use must fit; unset: something must be left.',
  estimate:
    '`observed`: answers are estimated by what the model’s answers came to; unset: by what the request allows.',
  without_shared:
    'What holds while gateways cannot count together: each has its `share`, or spends what it took before as a `lease`, or they `allow` all, or `refuse` all. Unset: `share` for rates, `lease` for budgets.',
  unpriced:
    '`refuse`: what has no known price may not be asked of a budget in dollars; `pass`, or unset: it passes uncounted.',
  'usage_limits.id': 'Names the limit in records; stays the same while what it counts does.',
  'rate_limits.id': 'Names the limit in records; stays the same while what it counts does.',
  'usage_limits.status': 'Whether it is used up.',
  webhook: 'Where alerts are sent, signed; null = nowhere.',
  'webhook.url': 'The address they are sent to.',
  'webhook.secret': 'What they are signed with; shown masked.',
  undelivered: 'Alerts that the webhook did not take, and that are sent again; absent = none.',
  'undelivered.count': 'How many they are.',
  'undelivered.since': 'When the oldest of them was made.',
  'undelivered.reason': 'Why one of them was not taken.',
  'usage-limits-policies.search':
    'Only counters with this text in what they count by, as it is shown in `value_key`.',
} as const;
