# SPDX-License-Identifier: GPL-2.0-or-later
# The lab in a container: Debian's packages and a bundle, nothing else (docs/bundle.md). Any user, default rights:
#   make bundle FILE=search-lab.bundle WHEELS=3.13    # or the file of a release; it lies beside this one
#   docker build --tag search-lab .
#   docker run --rm search-lab lab run geo
# Packages have the versions of lab/images/container.lock, those of the base image too (--build-arg LAB_DRIFT=1: what the archive has).
# The base image is debian:trixie of 2026-08-03, by its digest in docker-library/repo-info; --build-arg BASE=... names another.
ARG BASE=debian@sha256:34cd9e9fd437c0a095ec39cb2e73422c9f30821b0d0848ed74fd0d43bae4d958

FROM ${BASE} AS base
ARG LAB_DRIFT=
COPY lab/images/container.lock scripts/container-packages /tmp/
RUN LAB_DRIFT="$LAB_DRIFT" /tmp/container-packages /tmp/container.lock git libseccomp2 make python3 python3-venv && \
    rm /tmp/container.lock /tmp/container-packages && \
    useradd --create-home --uid 1000 --shell /bin/bash lab

# The bundle itself stays in this stage: the image holds what it installs.
FROM base AS installed
COPY --chown=lab:lab . /home/lab/search-lab
USER lab
WORKDIR /home/lab/search-lab
ARG BUNDLE=search-lab.bundle
RUN make setup BUNDLE="$BUNDLE" && rm "$BUNDLE"

FROM base
COPY --from=installed --chown=lab:lab /home/lab /home/lab
USER lab
WORKDIR /home/lab/search-lab
ENV PATH=/home/lab/search-lab/.venv/bin:/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8
CMD ["bash"]
