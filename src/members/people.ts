import type { Runtime } from '../env'
import { ifAnswered } from '../http/read'
import { addressesOf, membersOf, type Person } from './store'

/** Addresses of users by their ids. */
export type People = ReadonlyMap<string, string>

/** @param rows null where the directory did not answer, and then so is the result */
export function peopleIn(rows: readonly Person[] | null): People | null {
  return rows && new Map(rows.map(({ user_id, email }) => [user_id, email]))
}

/** The members of a project; null where the directory does not answer. */
export async function readMembers({ directory }: Runtime, projectId: string): Promise<People | null> {
  return peopleIn(await ifAnswered(directory, membersOf(directory, projectId)))
}

/** The addresses of users, members or not. None where the directory does not answer, or ids are of something else. */
export async function readAddresses({ directory }: Runtime, ids: readonly string[]): Promise<People> {
  const users = [...new Set(ids.filter((id) => id.startsWith('usr_')))]
  if (users.length === 0) return new Map()
  return peopleIn(await ifAnswered(directory, addressesOf(directory, users))) ?? new Map()
}
