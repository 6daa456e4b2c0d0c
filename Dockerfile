# The first command of the README in a container: `docker build -t stead-sym . && docker run --rm stead-sym`.
# Your own deployment: `docker run --rm -v "$PWD:/work" stead-sym verify shop.stead --policy careful`.
FROM python:3.12-slim AS build
# pynauty is compiled from source
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --no-install-recommends --yes build-essential \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/stead-sym && /opt/stead-sym/bin/pip install --no-cache-dir .

FROM python:3.12-slim
COPY --from=build /opt/stead-sym /opt/stead-sym
RUN useradd --create-home --uid 1000 stead
USER 1000
WORKDIR /work
ENV PATH="/opt/stead-sym/bin:$PATH" PYTHONUTF8=1
ENTRYPOINT ["stead-sym"]
CMD ["verify", "refund", "--policy", "baseline"]
