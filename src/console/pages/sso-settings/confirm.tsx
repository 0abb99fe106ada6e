import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { startPath } from '../../../sessions/reach'
import type { SsoConnection } from '../../../sso/connections/store'
import { pathsOf } from '../../page'
import { userOf } from '../../session'
import { Post } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'

/** Asks before a connection is enforced, or no longer. It names who keeps access without it. */
export function enforcePage(c: Context<HttpEnv>, row: SsoConnection, owners: readonly string[]) {
  const path = `${pathsOf(c).sso}/${row.id}`
  const title = row.enforced ? `Stop enforcing “${row.name}”?` : `Enforce “${row.name}”?`
  const own = userOf(c).sso?.connection_id === row.id
  return show(
    c,
    { title, section: 'sso', above: [row.name, path] },
    <>
      <Head title={title} />
      {row.enforced ? (
        <p>Members can then sign in with a code or a passkey again.</p>
      ) : (
        <>
          <p>
            From then on, members must sign in with {row.name}. Other sessions have no access to this project. API keys
            keep working.
          </p>
          {owners.length === 0 ? (
            <p class="warning" role="note">
              No owner has break-glass access. Give it to one on the page <a href={pathsOf(c).members}>Members</a>{' '}
              first: otherwise nobody could sign in while the provider is down.
            </p>
          ) : (
            <p>
              Without it, only owners with break-glass access can sign in: <strong>{owners.join(', ')}</strong>.
            </p>
          )}
          {!own && (
            <p class="warning" role="note">
              First <a href={startPath(row.id, `${path}/enforce`)}>sign in with {row.name}</a>. This proves that it
              works for you.
            </p>
          )}
        </>
      )}
      {(row.enforced || (own && owners.length > 0)) && (
        <Post c={c} to={`${path}/enforce`}>
          <input type="hidden" name="enforce" value={String(!row.enforced)} />
          <button type="submit" class="primary">
            {row.enforced ? 'Stop enforcing' : 'Enforce'}
          </button>
        </Post>
      )}
      <p>
        <a href={path}>Cancel</a>
      </p>
    </>,
  )
}

/** Asks before a connection is deleted. */
export function deletePage(c: Context<HttpEnv>, row: SsoConnection) {
  const path = `${pathsOf(c).sso}/${row.id}`
  const title = `Delete “${row.name}”?`
  return show(
    c,
    { title, section: 'sso', above: [row.name, path] },
    <>
      <Head title={title} />
      <p>
        Nobody can sign in with it any more, and its sessions end at once. Its client secret is deleted. Members and
        consumers stay.
      </p>
      <Post c={c} to={`${path}/delete`}>
        <button type="submit" class="danger">
          Delete connection
        </button>
      </Post>
      <p>
        <a href={path}>Cancel</a>
      </p>
    </>,
  )
}
