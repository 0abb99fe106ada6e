import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { show } from '../../ui/layout'
import { Copyable, Head } from '../../ui/parts'

/**
 * The only page that shows recovery codes, in response to the form that made them. A reload sends the form again, which makes
 * no others.
 *
 * @param next where to continue
 */
export function codesPage(c: Context<HttpEnv>, codes: readonly string[], next: string) {
  return show(
    c,
    { title: 'Recovery codes', section: 'passkeys', status: 201 },
    <div class="codes">
      <Head title="Recovery codes" />
      <p class="warning" role="note">
        <strong>Store these codes now. You will not be able to see them again.</strong> We store only hashes of them.
      </p>
      <p>
        If you lose your passkey, each code stands in for it once. Keep them where you can reach them without your
        device: on paper, or in a password manager.
      </p>
      <Copyable id="codes" label="recovery codes">
        {codes.join('\n')}
      </Copyable>
      <p>
        <a class="button primary" href={next}>
          I have stored the codes
        </a>
      </p>
    </div>,
  )
}
