# The agent's image, for those who build with a container engine. `make docker-build-agent` makes the same content
# without one.
FROM debian:12 AS build
RUN apt-get update && apt-get install --yes --no-install-recommends make
WORKDIR /src
COPY . .
RUN .ci/setup build
RUN cmake --preset release --log-level=WARNING && cmake --build --preset release --target iprule-agent
RUN .ci/image --tree build/release/apps/iprule-agent /agent /tree

FROM scratch
COPY --from=build /tree /
USER 65532:65532
ENTRYPOINT ["/agent"]
