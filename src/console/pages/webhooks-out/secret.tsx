import type { EndpointRow } from '../../../endpoints/endpoint'
import type { Visit } from '../../page'
import { show } from '../../ui/layout'
import { Copyable, Head } from '../../ui/parts'
import { endpointPath } from './parts'

/**
 * The only page that shows a secret, in response to the form that made it. A reload sends the form again, which then leads to
 * the page of the endpoint.
 */
export function secretPage(c: Visit, { id, url, secrets }: EndpointRow, secret: string) {
  const title = secrets.length > 1 ? 'Secret added' : 'Endpoint added'
  return show(
    c,
    { title, section: 'webhooks-out', status: 201 },
    <div data-unsaved>
      <Head title={title} />
      <p class="warning" role="note">
        <strong>Copy the secret now. You will not be able to see it again.</strong> It is stored encrypted.
      </p>
      <h2 class="url">{url}</h2>
      <Copyable id="secret" label="secret">
        {secret}
      </Copyable>
      <p>
        Your server verifies the header <code>webhook-signature</code> of each request with this secret, for example
        with a library of standardwebhooks.com.
      </p>
      {secrets.length > 1 && (
        <p>Each request has a signature of every secret. Remove the old one once your server accepts this one.</p>
      )}
      <p>
        <a class="button primary" href={endpointPath(c, id)} data-saved>
          I have stored the secret
        </a>
      </p>
    </div>,
  )
}
