import type { Consumer } from '../../../consumers/read'

/** What a consumer is called: by its name or, if it has none, by the next best. */
export function titleOf({ name, email, external_ids, id }: Consumer): string {
  return name ?? email ?? external_ids[0] ?? id
}
