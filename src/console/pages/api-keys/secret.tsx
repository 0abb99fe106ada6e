import type { Context } from 'hono'
import type { KeyRow } from '../../../api-keys/store'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { exact, relative } from '../../ui/format'
import { show } from '../../ui/layout'
import { Copyable, Head } from '../../ui/parts'
import { curlOf } from './curl'

/** The one answer that holds a secret. It is in no address and is kept nowhere. */
export function secretPage(c: Context<HttpEnv>, row: KeyRow, secret: string, what: 'created' | 'rotated') {
  const { keys } = pathsOf(c)
  return show(
    c,
    { title: `API key ${what}`, section: 'keys', status: what === 'created' ? 201 : 200 },
    <>
      <Head title={`API key ${what}`} />
      <p class="warning" role="note">
        <strong>Copy the secret now: it is shown this once.</strong> We keep only its hash. Do not reload this page:
        that sends the form again and makes another secret.
      </p>
      <h2>{row.name}</h2>
      <Copyable id="secret" label="secret">
        {secret}
      </Copyable>
      <p>
        {row.expires_at === null
          ? 'It never expires.'
          : `It expires ${relative(row.expires_at, c.get('rt').now)}, at ${exact(row.expires_at)}.`}
      </p>
      <h2>Try it</h2>
      <Copyable id="try" label="curl command">
        {curlOf(c, secret)}
      </Copyable>
      <p>
        <a class="button primary" href={keys}>
          I have stored it
        </a>
      </p>
    </>,
  )
}
