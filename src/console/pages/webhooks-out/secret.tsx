import type { EndpointRow } from '../../../endpoints/endpoint'
import type { Visit } from '../../page'
import { show } from '../../ui/layout'
import { Head, ShownOnce } from '../../ui/parts'
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
      <ShownOnce what="secret" of={<h2 class="url">{url}</h2>} kept="It is stored encrypted.">
        {secret}
      </ShownOnce>
      <p>
        Your server verifies the header <code>webhook-signature</code> of each request with this secret, for example
        with a library of standardwebhooks.com.
      </p>
      {secrets.length > 1 && (
        <p>Each request is signed with every secret. Remove the old secret once your server accepts this one.</p>
      )}
      <p>
        <a class="button primary" href={endpointPath(c, id)} data-saved>
          I have stored the secret
        </a>
      </p>
    </div>,
  )
}
