// Loading the page again, where the service can be reached.

/** Load the page again, unless that would end at the browser's page for a lost connection. */
export async function reload(): Promise<void> {
  if (await isReachable()) window.location.reload();
}

/** Tell whether the service answers. */
export async function isReachable(): Promise<boolean> {
  try {
    await fetch('/app/', { method: 'HEAD', cache: 'no-store' });
    return true;
  } catch {
    return false;
  }
}
