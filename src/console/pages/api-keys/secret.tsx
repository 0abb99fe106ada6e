import type { Context } from 'hono'
import type { KeyRow } from '../../../api-keys/store'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { exact, relative } from '../../ui/format'
import { show } from '../../ui/layout'
import { Copyable, Head } from '../../ui/parts'
import { curlOf } from './curl'

/** The only page that shows a secret. The secret is never stored and never part of a URL. */
export function secretPage(c: Context<HttpEnv>, row: KeyRow, secret: string, what: 'created' | 'rotated') {
  const { keys } = pathsOf(c)
  return show(
    c,
    { title: `API key ${what}`, section: 'keys', status: what === 'created' ? 201 : 200 },
    <>
      <Head title={`API key ${what}`} />
      <p class="warning" role="note">
        <strong>Copy the secret now. You will not be able to see it again.</strong> We store only a hash of it. Do not
        reload this page: that would submit the form again and create another secret.
      </p>
      <h2>{row.name}</h2>
      <Copyable id="secret" label="secret">
        {secret}
      </Copyable>
      <p>
        {row.expires_at === null
          ? 'The key never expires.'
          : `The key expires ${relative(row.expires_at, c.get('rt').now)}, at ${exact(row.expires_at)}.`}
      </p>
      <h2>Try it</h2>
      <Copyable id="try" label="curl command">
        {curlOf(c, secret)}
      </Copyable>
      <p>
        <a class="button primary" href={keys}>
          I have stored the secret
        </a>
      </p>
    </>,
  )
}
