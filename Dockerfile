# The service. `docker build -t fse .`, then `docker run --rm -p 127.0.0.1:8000:8000 -v fse-data:/data fse`.
ARG PYTHON_IMAGE=python:3.12-slim-trixie

FROM ${PYTHON_IMAGE} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY deploy/constraints.txt deploy/
COPY fse_core fse_core
COPY conformance conformance
RUN pip wheel --no-deps --wheel-dir /wheels .
# Without pip: nothing can be installed into what is shipped. Bytecode is made here, for nothing is written later on.
RUN python -m venv --without-pip /opt/fse \
    && pip --python /opt/fse/bin/python install --constraint deploy/constraints.txt "$(echo /wheels/*.whl)[service]"
COPY service /app/service
COPY examples /app/examples
RUN python -m compileall -q /app/service && chmod -R a+rX,go-w /app /opt/fse

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="fse" \
      org.opencontainers.image.description="Tells which Mixture-of-Experts layers vLLM on ROCm fuses with their shared expert" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --system --gid 10001 fse \
    && useradd --system --uid 10001 --gid fse --home-dir /data --no-create-home --shell /usr/sbin/nologin fse \
    && install --directory --owner=fse --group=fse --mode=0750 /data
COPY --from=build /opt/fse /opt/fse
COPY --from=build /app /app
ENV PATH=/opt/fse/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HF_HUB_DISABLE_TELEMETRY=1 \
    FSE_HOST=0.0.0.0 \
    FSE_PORT=8000 \
    FSE_STORE=sqlite:////data/fse.sqlite3 \
    FSE_EXAMPLES=/app/examples
WORKDIR /app
USER 10001:10001
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# A proxy that the environment names is not asked: the address is this container's own.
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:' + os.environ['FSE_PORT'] + '/livez', timeout=4)"]
CMD ["python", "-m", "service"]
