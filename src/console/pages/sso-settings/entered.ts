/** The fields of a form for a new connection, as the API takes them. */
export function fieldsIn(form: URLSearchParams): Record<string, unknown> {
  const audience = form.get('audience') ?? ''
  const secret = form.get('client_secret')?.trim() ?? ''
  return {
    audience,
    name: form.get('name') ?? '',
    issuer: form.get('issuer')?.trim() ?? '',
    client_id: form.get('client_id')?.trim() ?? '',
    ...(secret !== '' && { client_secret: secret }),
    domain_ids: form.getAll('domain_ids'),
    ...(audience === 'team' && { default_role: form.get('default_role') || null }),
    ...(audience === 'customers' && {
      create_consumers: form.get('create_consumers') === 'true',
      redirect_uris: linesOf(form.get('redirect_uris')),
    }),
  }
}

/** The fields of a form that changes a connection. An empty secret leaves the one that is stored. */
export function changesIn(form: URLSearchParams): Record<string, unknown> {
  const { audience, issuer, ...changes } = fieldsIn(form)
  return changes
}

function linesOf(text: string | null): string[] {
  return (text ?? '')
    .split(/\s+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
