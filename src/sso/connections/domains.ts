import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { invalidField } from '../../http/validate'
import { type OfferedDomain, offeredDomains } from './connection'
import type { ChangedFields } from './fields'

/** Reads the domains of the project that a call names. */
export async function findDomains(
  { directory }: Runtime,
  projectId: string,
  { domain_ids = [], surface_id }: Pick<ChangedFields, 'domain_ids' | 'surface_id'>,
): Promise<OfferedDomain[]> {
  const ids = [...domain_ids, ...(surface_id ? [surface_id] : [])]
  return ids.length === 0 ? [] : run(directory, offeredDomains(directory, projectId, ids))
}

/** @throws {Fault} `validation_failed` for one that the project does not have for single sign-on */
export function requireEmailDomains(found: readonly OfferedDomain[], ids: readonly string[] = []): OfferedDomain[] {
  const own = found.filter(({ purpose }) => purpose === 'sso')
  const at = ids.findIndex((id) => own.every((one) => one.id !== id))
  if (at >= 0)
    throw invalidField(`/domain_ids/${at}`, 'not_one_of', 'must be a domain of this project with the purpose sso')
  return own.filter(({ id }) => ids.includes(id))
}

/**
 * The callback address is on the surface, and must not move there by itself later: the provider would not know it.
 *
 * @throws {Fault} `validation_failed` for one that the project does not hold as a host
 */
export function requireSurface(found: readonly OfferedDomain[], id: string | null | undefined): void {
  if (!id || found.some((one) => one.id === id && one.purpose === 'surface' && one.verified)) return
  throw invalidField('/surface_id', 'not_one_of', 'must be a verified domain of this project with the purpose surface')
}
