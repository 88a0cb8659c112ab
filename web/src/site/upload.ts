// A .game file on its way: the upload with its progress, then the build until it is ready or refused.
import { Failure, get, send } from './api.ts';

export interface Job {
    job_id: string;
    status: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
    stage: string;
    progress_pct: number;
    log: string[] | string;
    reason: string | null;
    result_revision_id: string | null;
}

export interface Sent {
    place_id: string;
    revision_id: string;
    job_id: string;
}

// fetch() does not tell how much has been sent; XMLHttpRequest does.
export function sendFile(path: string, file: Blob, signal: AbortSignal,
    progress: (part: number) => void): Promise<Sent> {
    return new Promise((done, failed) => {
        const request = new XMLHttpRequest();
        request.open('POST', path);
        request.setRequestHeader('X-Sandlot', '1');
        request.setRequestHeader('Content-Type', 'application/octet-stream');
        request.responseType = 'json';
        request.upload.onprogress = (event) => progress(event.loaded / Math.max(event.total, 1));
        request.onerror = () => failed(new Failure(0, 'unreachable', 'the server cannot be reached'));
        request.onabort = () => failed(new DOMException('cancelled', 'AbortError'));
        request.onload = () => {
            const body = request.response as { error?: { code?: string; message?: string } } | null;
            if (request.status === 202) {
                done(body as unknown as Sent);
            } else {
                failed(new Failure(request.status, body?.error?.code ?? '',
                    body?.error?.message ?? `the server answered ${request.status}`,
                    Number(request.getResponseHeader('Retry-After') ?? 0)));
            }
        };
        signal.addEventListener('abort', () => request.abort(), { once: true });
        request.send(file);
    });
}

const ASK_MS = 500;

// Until the job has ended; `said` hears of it on the way.
export async function followJob(id: string, signal: AbortSignal, said: (job: Job) => void): Promise<Job> {
    for (;;) {
        const job = await get<Job>(`/api/jobs/${encodeURIComponent(id)}`, signal);
        said(job);
        if (job.status !== 'waiting' && job.status !== 'running') {
            return job;
        }
        await new Promise((done) => setTimeout(done, ASK_MS));
        signal.throwIfAborted();
    }
}

// Whoever follows it sees that it was cancelled.
export function stopJob(id: string): void {
    send('DELETE', `/api/jobs/${encodeURIComponent(id)}`).catch(() => {});
}

export function logLines(job: Job): string[] {
    return (Array.isArray(job.log) ? job.log : job.log.split('\n')).filter((line) => line !== '');
}
