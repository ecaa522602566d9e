/** What a provider is told when something was said that must not be: no more of it, and nobody remembers it. */
export function withdrawal(itemId: string | undefined): readonly object[] {
  const cancel = { type: 'response.cancel' };
  return itemId === undefined
    ? [cancel]
    : [cancel, { type: 'conversation.item.delete', item_id: itemId }];
}
