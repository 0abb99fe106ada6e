import { and, eq, gt, lt, lte, sql } from 'drizzle-orm'
import { batch, type Directory, run } from '../../db/client'
import { deleteSome } from '../../db/delete-some'
import { ssoCodes, ssoLogins } from '../../identities/schema'
import { idFloor } from '../../lib/ids'
import { HOUR } from '../../lib/time'

type Code = typeof ssoCodes.$inferSelect

/** Says of a code whether its sign-in has created the consumer. */
export function markCreated(directory: Directory, hash: string, created: boolean) {
  return directory.update(ssoCodes).set({ created }).where(eq(ssoCodes.hash, hash))
}

/**
 * Takes a code: it is deleted and returned. Of a code of the project that is expired, or bound to another address or verifier, `left` says
 * what is wrong with it.
 */
export async function takeCode(
  directory: Directory,
  {
    hash,
    project_id,
    redirect_uri,
    code_challenge,
  }: Pick<Code, 'hash' | 'project_id' | 'redirect_uri' | 'code_challenge'>,
  now: number,
) {
  const isOurs = and(eq(ssoCodes.hash, hash), eq(ssoCodes.project_id, project_id))
  const isBound = and(eq(ssoCodes.redirect_uri, redirect_uri), sql`${ssoCodes.code_challenge} IS ${code_challenge}`)
  const isGood = and(isOurs, isBound, gt(ssoCodes.expires_at, now))
  const { taken, left } = await batch(directory, {
    taken: directory.delete(ssoCodes).where(isGood).returning(),
    left: directory
      .select({ expires_at: ssoCodes.expires_at, redirect_uri: ssoCodes.redirect_uri })
      .from(ssoCodes)
      .where(isOurs),
  })
  return { taken: taken[0], left: left[0] }
}

/** Deletes codes that have expired. @returns how many; at most `most` */
export async function purgeCodes(directory: Directory, now: number, most: number): Promise<number> {
  return (
    await run(
      directory,
      deleteSome(directory, ssoCodes, { key: [ssoCodes.hash], where: lte(ssoCodes.expires_at, now), most }),
    )
  ).length
}

/** Deletes logins that began more than an hour ago: they have expired. @returns how many; at most `most` */
export async function purgeLogins(directory: Directory, now: number, most: number): Promise<number> {
  const expired = lt(ssoLogins.id, idFloor('slg', now - HOUR))
  return (await run(directory, deleteSome(directory, ssoLogins, { key: [ssoLogins.id], where: expired, most }))).length
}
