import { run } from '../../../db/client'
import { listRestorable, type MemberProject } from '../../../projects/in-directory'
import type { Visit } from '../../page'
import { userOf } from '../../session'
import { Post } from '../../ui/controls'
import { exact } from '../../ui/format'
import { show } from '../../ui/layout'

/** Deleted projects of one user that are shown or looked through: those that can be restored the longest. */
export const DELETED = 20

/** A deleted project of the visitor that can still be restored; undefined if the project is none. */
export async function restorableOf(c: Visit, id: string): Promise<MemberProject | undefined> {
  const { directory, now } = c.get('rt')
  const rows = await run(directory, listRestorable(directory, userOf(c), now, DELETED))
  return rows.find((row) => row.id === id)
}

/** The page in place of every page of a deleted project. */
export function deletedPage(c: Visit, row: MemberProject) {
  return show(
    c,
    { title: 'This project was deleted', status: 404, above: ['Projects', '/console'] },
    <>
      <h1>{row.name} was deleted</h1>
      <p>
        Its API keys and ingest URLs do not work. An owner can undo the deletion until{' '}
        {exact(row.purge_at ?? c.get('rt').now)}.
      </p>
      {row.role === 'owner' ? <Undo c={c} row={row} /> : <p>Ask an owner of the project to undo it.</p>}
    </>,
  )
}

/** The form that restores a deleted project. */
export function Undo({ c, row }: { c: Visit; row: MemberProject }) {
  return (
    <Post c={c} to={`/console/projects/${row.id}/restore`} class="once">
      <button type="submit">
        Undo<span class="unseen"> the deletion of {row.name}</span>
      </button>
    </Post>
  )
}
